/* T steps of a three-point Jacobi iteration in bands of TILE cells, which run in parallel. A is temporary. Bands
   read a cell of each neighbour, so that no band may overwrite what it wrote in the step before. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define TILE 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void jacobi_1d(int T, int N, const double in[restrict N], double out[restrict N])
{
    double A[T + 1][N];

#pragma scop
#pragma omp parallel for
    for (int b = 0; b < (N + TILE - 1) / TILE; b++)
        for (int i = TILE * b; i <= MIN(TILE * b + TILE - 1, N - 1); i++)
            A[0][i] = in[i];

    for (int t = 1; t <= T; t++)
#pragma omp parallel for
        for (int b = 0; b < (N + TILE - 1) / TILE; b++) {
            if (b == 0)
                A[t][0] = A[t - 1][0];
            for (int i = MAX(TILE * b, 1); i <= MIN(TILE * b + TILE - 1, N - 2); i++)
                A[t][i] = (A[t - 1][i - 1] + A[t - 1][i] + A[t - 1][i + 1]) * (1.0 / 3);
            if (TILE * b + TILE >= N)
                A[t][N - 1] = A[t - 1][N - 1];
        }

#pragma omp parallel for
    for (int b = 0; b < (N + TILE - 1) / TILE; b++)
        for (int i = TILE * b; i <= MIN(TILE * b + TILE - 1, N - 1); i++)
            out[i] = A[T][i];
#pragma endscop
}
