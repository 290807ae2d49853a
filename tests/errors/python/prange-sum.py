import arrayfold as af


@af.kernel
def kernel(a, out):
    total = 0.0
    for i in af.prange(len(a)):
        total += a[i]
    out[0] = total
