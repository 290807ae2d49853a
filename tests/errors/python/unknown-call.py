import arrayfold as af


@af.kernel
def kernel(a, out):
    for i in range(len(a)):
        out[i] = half(a[i])
