/* Iterators that are words of isl, in any case of letters. */
void keyword_iterators(int N, double A[N][N])
{
    int max, min;
#pragma scop
    for (max = 0; max < N; max++)
        for (int mod = 0; mod <= max; mod++)
            A[max][mod] = max - mod;
    for (min = N - 1; min >= 0; min--)
        for (int exists = 0; exists < N; exists++)
            A[exists][min] += A[min][exists];
    for (int Or = 0; Or < N; Or++)
        A[Or][Or] = 0;
#pragma endscop
}
