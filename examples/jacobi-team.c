/* T steps of a three-point Jacobi iteration by one team of threads: the time loop runs inside of the parallel
   region, and the barrier at the end of each shared loop keeps the steps apart.
   A is temporary: two rows are needed. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void jacobi_team(int T, int N, const double in[restrict N], double out[restrict N])
{
    double A[T + 1][N];

#pragma scop
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < N; i++)
            A[0][i] = in[i];

        for (int t = 1; t <= T; t++) {
#pragma omp for
            for (int i = 0; i < N; i++)
                if (i >= 1 && i < N - 1)
                    A[t][i] = (A[t - 1][i - 1] + A[t - 1][i] + A[t - 1][i + 1]) / 3.0;
                else
                    A[t][i] = A[t - 1][i];
        }

#pragma omp for nowait
        for (int i = 0; i < N; i++)
            out[i] = A[T][i];
    }
#pragma endscop
}
