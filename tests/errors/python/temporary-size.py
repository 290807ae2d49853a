import arrayfold as af


@af.kernel
def kernel(a, out):
    N, M = a.shape
    tmp = af.empty(N * M)
    for i in range(N):
        tmp[i] = a[i, 0]
        out[i] = tmp[i]
