import arrayfold as af


@af.kernel
def kernel(a, out):
    n = len(a)
    for i in range(n):
        out[i] = a[0:i]
