/* Two independent chains for each row, in OpenMP sections: the row's squares and the row's differences.
   sq and df are temporary: one row of each is needed. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void stages_sections(int M, int N, const double in[restrict M][N], double out[restrict M][N])
{
    double sq[M][N], df[M][N];

#pragma scop
    for (int y = 0; y < M; y++) {
#pragma omp parallel sections
        {
#pragma omp section
            for (int x = 0; x < N; x++)
                sq[y][x] = in[y][x] * in[y][x];
#pragma omp section
            for (int x = 1; x < N; x++)
                df[y][x] = in[y][x] - in[y][x - 1];
        }
        for (int x = 1; x < N; x++)
            out[y][x] = sq[y][x] - df[y][x] * sq[y][x - 1];
    }
#pragma endscop
}
