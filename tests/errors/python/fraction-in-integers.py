import arrayfold as af


@af.kernel
def kernel(a, out: 'int64'):
    for i in range(len(a)):
        out[i] = a[i]
