/* Bounds with factors, sums of iterators, shifts and division; global iterators. */
int i, j;

void skewed(int N, int M, double A[4 * N + 4][2 * N + 2 * M], double s[4 * N + 4])
{
#pragma scop
    for (i = 1; i < N; i++)
        for (j = (i + 1) / 2; 3 * j <= 2 * i + M; j++)
            A[2 * i + 1][j] = A[2 * i - 1][j + M];
    for (i = 0; i < N; i++)
        for (j = -i; i + j < N >> 1; j++)
            A[i << 1][i + j] += s[(i + j) / 2];
#pragma endscop
}
