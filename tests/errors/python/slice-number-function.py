import numpy as np

import arrayfold as af


@af.kernel
def kernel(a, out):
    assert a.shape == out.shape
    out[:] = max(a, out)
