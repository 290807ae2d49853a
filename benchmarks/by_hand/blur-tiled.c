/* blur-tiled.c by hand: each tile has a column in a buffer, with two cells copied in front of it from the row of tiles
   before, of which two cells of every column are kept. The tiles of a row may run in parallel. */

#include <stdlib.h>

#define TILE 8

void blur_tiled(int N, const float in[restrict N + 2][N], float out[restrict N][N])
{
    float(*kept)[2] = malloc(N * sizeof *kept);
    for (int ty = 0; ty < N; ty += TILE) {
        const int length = ty + TILE < N ? TILE : N - ty;
#pragma omp parallel for
        for (int tx = 0; tx < N; tx += TILE) {
            float column[TILE + 16] __attribute__((aligned(64)));
            float *restrict blurx = column + 16;
            for (int x = tx; x < (tx + TILE < N ? tx + TILE : N); x++) {
                if (ty) {
                    blurx[-2] = kept[x][0];
                    blurx[-1] = kept[x][1];
                }
                for (int k = 0; k < length; k++)
                    blurx[k] = in[x][ty + k] + in[x + 1][ty + k] + in[x + 2][ty + k];
                for (int k = ty ? 0 : 2; k < length; k++)
                    out[x][ty + k] = (blurx[k] + blurx[k - 1] + blurx[k - 2]) / 9.0f;
                if (length > 1) {
                    kept[x][0] = blurx[length - 2];
                    kept[x][1] = blurx[length - 1];
                }
            }
        }
    }
    free(kept);
}
