/* Integers that are set in the region, on the way to subscripts and bounds. */
void assigned(int n, double a[restrict 4 * n + 9], double b[restrict n][n + 4])
{
    int q, r;
    long s;
#pragma scop
    q = 2;
    for (int i = 0; i < n; i++)
        a[i + q] = i;
    for (int i = 0; i < n; i++) {
        q = i + 1;
        r = 2 * q;
        a[r] = b[i][0];
        q = r - i;
        q++;
        b[i][0] = a[q];
        s = q += 2;
        for (int j = 0; j < s - i; j++)
            b[i][j % 4] = a[s];
        if (i > 2)
            r = i - 2;
        else
            r = 7;
        a[r] += 1;
    }
#pragma endscop
}
