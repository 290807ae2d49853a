import arrayfold as af


@af.kernel
def kernel(a, out, n: int):
    n = n + 1
    for i in range(n):
        out[i] = a[i]
