/* T steps of a three-point Jacobi iteration. A product where the example divides, so that memory is what counts.
   A is temporary: every step has a row of its own, but a step reads only the one before. N + 1 cells are live
   at once. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void jacobi_1d(int T, int N, const double in[restrict N], double out[restrict N])
{
    int t, i;
    double A[T + 1][N];

#pragma scop
    for (i = 0; i < N; ++i)
        A[0][i] = in[i];

    for (t = 1; t <= T; ++t) {
        A[t][0] = A[t - 1][0];
        for (i = 1; i < N - 1; ++i)
            A[t][i] = (A[t - 1][i - 1] + A[t - 1][i] + A[t - 1][i + 1]) * (1.0 / 3);
        A[t][N - 1] = A[t - 1][N - 1];
    }

    for (i = 0; i < N; ++i)
        out[i] = A[T][i];
#pragma endscop
}
