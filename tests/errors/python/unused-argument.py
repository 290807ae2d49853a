import arrayfold as af


@af.kernel
def kernel(a, out, n):
    for i in range(len(a)):
        out[i] = a[i]
