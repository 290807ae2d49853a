import arrayfold as af


@af.kernel
def kernel(a, out, m):
    for i in range(m):
        out[i] = a[i - 1] + a[i]
