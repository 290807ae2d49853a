import arrayfold as af


@af.kernel
def kernel(a: 'float32', b, out):
    for i in range(len(a)):
        s = a[i]
        s = b[i]
        out[i] = s
