"""Two-stage blur as two separate loop nests. BBC16 Fig. 4(a).

blurx is temporary. As written all of it is live between the nests; once they are fused cell by cell, three
are enough.
"""

import arrayfold as af


@af.kernel
def blur(image, out):
    N, M = image.shape
    assert out.shape == (N - 2, M - 2)
    blurx = af.empty((N, M - 2))
    for x in range(M - 2):
        for y in range(N):
            blurx[y, x] = (image[y, x] + image[y, x + 1] + image[y, x + 2]) / 3
    for x in range(M - 2):
        for y in range(N - 2):
            out[y, x] = (blurx[y, x] + blurx[y + 1, x] + blurx[y + 2, x]) / 3
