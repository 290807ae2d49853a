import arrayfold as af


@af.kernel
def kernel(a: complex, out):
    for i in range(len(a)):
        out[i] = a[i]
