/* jacobi-2d-bands.c by hand: each thread has a band of rows and one more row, on the stack, and a table of pointers to
   them. A new row goes to the free one, and the row above the one it replaces is free then. Copies of the first and
   the last row of each band, for two steps in turns, are what its neighbours read. The first step reads the input,
   the last one writes the output. */

#include <omp.h>
#include <string.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* The new row may be the one above: each of its cells is read before it is written. */
static void jacobi_row(int N, double *new, const double *mine, const double *above, const double *below)
{
    new[0] = mine[0];
#pragma GCC ivdep
    for (int j = 1; j < N - 1; j++)
        new[j] = 0.2 * (mine[j] + above[j] + below[j] + mine[j - 1] + mine[j + 1]);
    new[N - 1] = mine[N - 1];
}

void jacobi_2d(int T, int N, const double in[restrict N][N], double out[restrict N][N])
{
    const long pitch = (N + 7) / 8 * 8 + 8;
    const int most = omp_get_max_threads();
    double memory[(N + 5 * most) * pitch + 8] __attribute__((aligned(64))), *rows[N];
    if (T == 0 || N < 3) {
        memcpy(out, in, sizeof(double[N][N]));
        return;
    }
#pragma omp parallel num_threads(most)
    {
        const int bands = MIN(omp_get_num_threads(), N - 2), b = omp_get_thread_num();
        const int begin = 1 + (long)(N - 2) * b / bands, end = 1 + (long)(N - 2) * (b + 1) / bands;
        double *spare = memory + (begin + b) * pitch + 7, *copies = memory + (N + most) * pitch + 7;
        if (b < bands)
            for (int i = begin; i < end; i++)
                rows[i] = spare + (i - begin + 1) * pitch;
        if (b == 0)
            memcpy(out[0], in[0], N * sizeof(double));
        if (b == bands - 1)
            memcpy(out[N - 1], in[N - 1], N * sizeof(double));
        for (int t = 1; t <= T; t++) {
            if (b < bands) {
                const double *above = b ? copies + (4 * b - 2 + t % 2) * pitch : in[0];
                const double *last = b < bands - 1 ? copies + (4 * b + 4 + t % 2) * pitch : in[N - 1];
                for (int i = begin; i < end; i++) {
                    if (t == 1) {
                        jacobi_row(N, t == T ? out[i] : rows[i], in[i], in[i - 1], in[i + 1]);
                        continue;
                    }
                    double *mine = rows[i];
                    rows[i] = spare;
                    jacobi_row(N, t == T ? out[i] : spare, mine, above, i < end - 1 ? rows[i + 1] : last);
                    above = spare = mine;
                }
                if (t < T) {
                    memcpy(copies + (4 * b + (t + 1) % 2) * pitch, rows[begin], N * sizeof(double));
                    memcpy(copies + (4 * b + 2 + (t + 1) % 2) * pitch, rows[end - 1], N * sizeof(double));
                }
            }
#pragma omp barrier
        }
    }
}
