/* T steps of a three-point Jacobi iteration whose space loop runs in parallel. DIY16 Fig. 1b.
   A is temporary: a step reads only the one before. Iterations of the parallel loop run in any order, so two
   rows are needed where the sequential program needs one row and one cell. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void jacobi_openmp(int T, int N, const double in[restrict N], double out[restrict N])
{
    double A[T + 1][N];

#pragma scop
    for (int i = 0; i < N; i++)
        A[0][i] = in[i];

    for (int t = 1; t <= T; t++) {
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            if (i >= 1 && i < N - 1)
                A[t][i] = (A[t - 1][i - 1] + A[t - 1][i] + A[t - 1][i + 1]) / 3.0;
            else
                A[t][i] = A[t - 1][i];
    }

    for (int i = 0; i < N; i++)
        out[i] = A[T][i];
#pragma endscop
}
