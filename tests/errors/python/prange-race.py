import arrayfold as af


@af.kernel
def kernel(image, out):
    n, m = image.shape
    row = af.empty(m)
    for y in af.prange(n):
        for x in range(m):
            row[x] = image[y, x] * 2
        for x in range(m):
            out[y, x] = row[x]
