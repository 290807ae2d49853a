/* Each row is scaled and then differenced, rows in parallel. tmp is temporary and lives within an iteration, so
   every thread needs one row of it: fold it with --local 1. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void rows(int N, const double in[restrict N][N], double out[restrict N][N])
{
    double tmp[N][N];

#pragma scop
#pragma omp parallel for
    for (int y = 0; y < N; y++) {
        for (int x = 0; x < N; x++)
            tmp[y][x] = in[y][x] * 0.5;
        for (int x = 1; x < N; x++)
            out[y][x] = tmp[y][x] - tmp[y][x - 1];
    }
#pragma endscop
}
