import arrayfold as af


def blur(a, out):
    out[0] = a[0]
