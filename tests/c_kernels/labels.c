/* Labels name statements; a label on a loop names nothing. */
void labels(int T, int N, double A[N], double B[N])
{
    int t, i;
#pragma scop
    for (t = 0; t < T; t++) {
    smooth:
        for (i = 1; i < N - 1; i++)
        average:
            B[i] = (A[i - 1] + A[i + 1]) / 2;
        for (i = 1; i < N - 1; i++) {
        copy:
            A[i] = B[i];
        }
    first:
        A[0] = A[N - 1];
        A[N - 1] = 0;
    }
#pragma endscop
}
