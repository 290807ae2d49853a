import arrayfold as af


@af.kernel
def fine(a):
    for i in range(len(a)):
        a[i] = 1


class Group:
    @staticmethod
    @af.kernel
    def wrong(a):
        for i in range(len(a)):
            a[i + 1] = 2
