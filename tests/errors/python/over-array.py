import arrayfold as af


@af.kernel
def kernel(a, out):
    for x in a:
        out[0] = x
        a[0] = 1
