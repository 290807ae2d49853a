import arrayfold as af


@af.kernel
def f(a:
    a[0] = 1
