/* unsharp-rows.c by hand: rows are shared by the threads, and each has a strip of a row of blurx with two cells of
   its neighbours on each side. */

#include <math.h>

#define STRIP 512
#define MIN(a, b) ((a) < (b) ? (a) : (b))

void unsharp(int H, int W, float weight, float threshold, const float in[restrict H][W],
             float out[restrict H][W])
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int y = 2; y < H - 2; y++)
        for (int tx = 0; tx < W - 4; tx += STRIP) {
            float row[STRIP + 16] __attribute__((aligned(64)));
            float *restrict blurx = row;
            const int count = MIN(STRIP, W - 4 - tx);
            const float *first = in[y - 2] + tx, *second = in[y - 1] + tx, *third = in[y] + tx;
            const float *fourth = in[y + 1] + tx, *fifth = in[y + 2] + tx, *mine = third + 2;
            float *restrict to = out[y] + tx + 2;
            for (int x = 0; x < count + 4; x++)
                blurx[x] = (first[x] + 4 * second[x] + 6 * third[x] + 4 * fourth[x] + fifth[x]) / 16;
            for (int x = 0; x < count; x++) {
                const float blury = (blurx[x] + 4 * blurx[x + 1] + 6 * blurx[x + 2] + 4 * blurx[x + 3]
                                     + blurx[x + 4]) / 16;
                const float sharp = (1 + weight) * mine[x] - weight * blury;
                to[x] = fabsf(mine[x] - blury) < threshold ? mine[x] : sharp;
            }
        }
}
