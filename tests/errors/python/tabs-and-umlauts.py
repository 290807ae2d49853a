import arrayfold as af


@af.kernel
def kernel(größe, out):
    for i in range(len(größe)):
    	out[i] = größe[i] if größe[i] in größe else 0
