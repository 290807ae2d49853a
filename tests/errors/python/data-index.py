import arrayfold as af


@af.kernel
def kernel(a, index: 'int64', out):
    for i in range(len(a)):
        out[i] = a[index[i]]
