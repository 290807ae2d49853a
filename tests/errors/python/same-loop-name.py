import arrayfold as af


@af.kernel
def kernel(a, out):
    for i in range(len(a)):
        for i in range(3):
            out[i] = a[i]
