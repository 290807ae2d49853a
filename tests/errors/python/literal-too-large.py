import numpy as np

import arrayfold as af


@af.kernel
def kernel(a: np.uint8, out: np.uint8):
    for i in range(len(a)):
        out[i] = a[i] + 256
