import arrayfold as af


@af.kernel
def kernel(a, out):
    def half(x):
        return x / 2

    for i in range(len(a)):
        out[i] = half(a[i])
