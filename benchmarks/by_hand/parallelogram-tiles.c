/* parallelogram-tiles.c by hand: N cells at t + i between bands of TILE steps, and inside of a band the last two cells
   of each step, which stay in registers while a tile is computed column by column. */

#include <stdlib.h>
#include <string.h>

#define TILE 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))

static inline __attribute__((always_inline)) double column(double now, int rows, double *first, double *second)
{
    for (int k = 0; k < rows; k++) {
        const double above = (first[k] + second[k] + now) * (1.0 / 3);
        first[k] = second[k];
        second[k] = now;
        now = above;
    }
    return now;
}

void parallelogram_tiles(int T, int N, const double in[restrict N], double out[restrict N])
{
    double *A = malloc(N * sizeof(double));
    memcpy(A, in, N * sizeof(double));
    for (int tt = 1; tt <= T && 2 * tt < N; tt += TILE) {
        double first[TILE], second[TILE];
        const int rows = MIN(TILE, T - tt + 1);
        for (int k = 0; k < TILE; k++) {
            first[k] = A[2 * tt - 2];
            second[k] = A[2 * tt - 1];
        }
        if (rows == TILE)
            for (int ss = 2 * tt; ss < N; ss += TILE)
                for (int s = ss; s <= MIN(ss + TILE - 1, N - 1); s++)
                    A[s] = column(A[s], TILE, first, second);
        else
            for (int s = 2 * tt; s < N; s++)
                A[s] = column(A[s], rows, first, second);
    }
    if (2 * T < N)
        memcpy(out + T, A + 2 * T, (N - 2 * T) * sizeof(double));
    free(A);
}
