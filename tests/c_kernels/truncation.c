/* C's division goes towards zero and its remainder has the sign of the dividend. */
void truncation(int N, double a[2 * N + 1], double b[2 * N + 1])
{
#pragma scop
    for (int i = -N; i <= N; i++) {
        a[i / 2 + N] = b[i % 3 + N];
        if (i % 2 == -1)
            a[N + i] = 1;
        if (i % 2 != 0)
            b[i + N] = 2;
        if ((i - 1) / 4 == 0)
            b[i + N] += 1;
        if (i / -3 > 0)
            a[i + N] -= b[N - i % -4];
    }
#pragma endscop
}
