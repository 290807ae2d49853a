import numpy as np

import arrayfold as af


@af.kernel
def kernel(a, out):
    for i in range(len(a)):
        out[i - 1 :] = a[i - 1 :]
