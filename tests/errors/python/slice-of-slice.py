import numpy as np

import arrayfold as af


@af.kernel
def kernel(a, out):
    n = len(out)
    for i in range(n):
        out[i] = a[1:][i]
