import arrayfold as af


@af.kernel
def kernel(a: 'int64', out):
    for i in range(a[0]):
        out[i] = 1
