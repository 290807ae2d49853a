import arrayfold as af


@af.kernel
def kernel(a, out):
    n = len(a)
    i = 0
    while i < n:
        out[i] = a[i]
        i += 1
