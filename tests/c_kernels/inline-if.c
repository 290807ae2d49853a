/* Small functions for bounds, written with if and return, and with a local variable. */
static inline int least(int a, int b)
{
    if (a < b)
        return a;
    return b;
}

static int greatest(int a, int b)
{
    int m = a > b ? a : b;
    return m;
}

void inline_if(int N, int M, double a[N + M])
{
#pragma scop
    for (int i = 0; i < least(N, M); i++)
        a[i] = 0;
    for (int i = 0; i < greatest(N, M); i++)
        a[i] += 1;
#pragma endscop
}
