import arrayfold as af


@af.kernel
def kernel(a, out):
    for i in range(len(a)):
        tmp = af.empty(3)
        out[i] = a[i]
