import arrayfold as af


@af.kernel
def kernel(a, out):
    for i in range(len(a)):
        if a[i] > 0:
            x = a[i]
        out[i] = x
