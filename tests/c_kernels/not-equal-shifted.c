/* != where the iterator stands inside a sum or a conversion. */
void not_equal_shifted(int n, double a[n], double b[n])
{
    int i;
#pragma scop
    for (i = 0; i + 1 != n; i++)
        a[i] = b[i + 1];
    for (i = 0; (long) i != n; i++)
        b[i] = 0;
    for (i = n - 1; i - 1 != -1; i--)
        a[i] = a[i - 1];
    for (i = 0; n - i != 0; i++)
        a[i] += 1;
#pragma endscop
}
