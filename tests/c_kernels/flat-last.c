/* The last element of a flat array with one more row and column than the sizes say. */
int count(int n, int m, const char *a, const char *b)
{
    int t[(n + 1) * (m + 1)], result;
#pragma scop
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++)
            if (i == 0 || j == 0)
                t[i * (m + 1) + j] = 0;
            else
                t[i * (m + 1) + j] = t[(i - 1) * (m + 1) + j - 1] + (a[i - 1] == b[j - 1]);
    result = t[n * (m + 1) + m];
#pragma endscop
    return result;
}
