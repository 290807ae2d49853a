import arrayfold as af


@af.kernel
def kernel(a, out):
    n = len(a)
    for i in range(n):
        if a[i] > 1:
            break
        out[i] = a[i]
