import arrayfold as af


@af.kernel
def f(a):
    for i in range(len(a)):
        a[i] = 1


@af.kernel
def f(a):
    for i in range(len(a)):
        a[i] = 2
