import arrayfold as af


@af.kernel
def kernel(a, *rest):
    n = len(a)
    for i in range(n):
        rest[i] = a[i]
