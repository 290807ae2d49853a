import arrayfold as af


@af.kernel
def kernel(a, out):
    n = len(a)
    for i in range(n):
        if a[i] > 0.5:
            out[i] = a[i - 1]
