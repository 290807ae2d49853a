/* T steps of a five-point Jacobi iteration on a square whose border is fixed, in bands of TILE rows, which run in
   parallel. A is temporary. Bands read a row of each neighbour, so that no band may overwrite what it wrote in
   the step before. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define TILE 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))

void jacobi_2d(int T, int N, const double in[restrict N][N], double out[restrict N][N])
{
    double A[T + 1][N][N];

#pragma scop
#pragma omp parallel for
    for (int b = 0; b < (N + TILE - 1) / TILE; b++)
        for (int i = TILE * b; i <= MIN(TILE * b + TILE - 1, N - 1); i++)
            for (int j = 0; j < N; j++)
                A[0][i][j] = in[i][j];

    for (int t = 1; t <= T; t++)
#pragma omp parallel for
        for (int b = 0; b < (N + TILE - 1) / TILE; b++)
            for (int i = TILE * b; i <= MIN(TILE * b + TILE - 1, N - 1); i++)
                for (int j = 0; j < N; j++)
                    if (i == 0 || i == N - 1 || j == 0 || j == N - 1)
                        A[t][i][j] = A[t - 1][i][j];
                    else
                        A[t][i][j] = 0.2 * (A[t - 1][i][j] + A[t - 1][i - 1][j] + A[t - 1][i + 1][j]
                                            + A[t - 1][i][j - 1] + A[t - 1][i][j + 1]);

#pragma omp parallel for
    for (int b = 0; b < (N + TILE - 1) / TILE; b++)
        for (int i = TILE * b; i <= MIN(TILE * b + TILE - 1, N - 1); i++)
            for (int j = 0; j < N; j++)
                out[i][j] = A[T][i][j];
#pragma endscop
}
