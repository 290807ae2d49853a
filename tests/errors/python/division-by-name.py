import arrayfold as af


@af.kernel
def kernel(a, out, k: int):
    n = len(a)
    for i in range(n):
        out[i // k] = a[i]
