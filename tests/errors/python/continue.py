import arrayfold as af


@af.kernel
def kernel(a, out):
    n = len(a)
    for i in range(n):
        if a[i] > 1:
            continue
        out[i] = a[i]
