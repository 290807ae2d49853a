import arrayfold as af


@af.kernel(dtype='complex64')
def kernel(a, out):
    for i in range(len(a)):
        out[i] = a[i]
