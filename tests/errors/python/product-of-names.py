import arrayfold as af


@af.kernel
def kernel(a, out):
    n = len(a)
    for i in range(n):
        for j in range(i * i):
            out[j] = a[j]
