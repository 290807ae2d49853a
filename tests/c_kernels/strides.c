/* Strides up and down, from parameters and from constants, with iterators of both kinds. */
void strides(int n, int m, double *a, double *b, double *c)
{
    int i;
#pragma scop
    for (i = 1; i < n; i += 2)
        a[i] = b[i / 2];
    for (int i = n - 1; i >= 0; i -= 3)
        b[i] = a[i];
    for (i = m; i <= n; i = i + 4)
        c[i - m] += a[i];
    for (i = n; i > m; i = i - 2)
        c[n - i] = 0;
    for (i = 0; i < 10; i += 5)
        c[i] = b[9 - i];
    for (i = 9; i > 0; i += -4)
        c[i] = a[i - 1];
#pragma endscop
}
