/* Our own pragma over several lines. */
#pragma arrayfold context(N >= 3) \
    no_alias
void continued_pragma(int N, double *a, double *b)
{
#pragma \
    scop
    for (int i = 1; i < N; i++)
        a[i] = b[i - 1];
#pragma endscop
}
