import arrayfold as af


@af.kernel
def kernel(a: float, out):
    for i in range(3):
        out[i] = a[i]
