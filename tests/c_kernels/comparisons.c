/* Every way to say when a loop ends. */
void comparisons(int n, int m, double *a, double *b)
{
    int i;
#pragma scop
    for (i = 0; i != n; i++)
        a[i] = 0;
    for (i = n - 1; i != -1; i--)
        a[i] += b[i];
    for (i = 0; n != i; ++i)
        b[i] = 1;
    for (i = 0; n > i; i++)
        b[i] += a[i];
    for (i = n - 1; 0 <= i; i--)
        a[i] = b[i];
    for (i = 0; !(i >= n); i++)
        a[i] -= 1;
    for (i = 0; i != 10; i += 2)
        a[i] = i;
    for (i = 0; i < n && i <= m; i++)
        b[i] = a[i];
    for (i = 0; 2 * i + 1 < n; i = 1 + i)
        a[2 * i + 1] = b[i];
#pragma endscop
}
