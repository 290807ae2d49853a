"""Two-stage blur: blurx is temporary, and as written all of it is live between the two nests.

`arrayfold fold examples/blur.py --fuse` interleaves them; then three cells are enough.
"""

import arrayfold as af


@af.kernel
def blur(image, out):
    N, M = image.shape
    assert out.shape == (N - 2, M)
    blurx = af.empty((N, M))
    for x in range(M):
        for y in range(N):
            blurx[y, x] = image[y, x] / 3
    for x in range(M):
        for y in range(N - 2):
            out[y, x] = blurx[y, x] + blurx[y + 1, x] + blurx[y + 2, x]
