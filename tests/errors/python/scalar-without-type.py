import arrayfold as af


@af.kernel
def kernel(a, out, alpha):
    for i in range(len(a)):
        out[i] = alpha * a[i]
