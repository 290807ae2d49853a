/* Unsharp mask of a grey image row by row: blur by columns, then blur by rows, sharpen, keep what differs little from
   its blur. blurx, blury and sharp are temporary. No row reads what another one wrote, so rows may run in parallel,
   each with a row of blurx. */

#include <math.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void unsharp(int H, int W, float weight, float threshold, const float in[restrict H][W],
             float out[restrict H][W])
{
    float blurx[H][W], blury[H][W], sharp[H][W];

#pragma scop
    for (int y = 2; y < H - 2; y++) {
        for (int x = 0; x < W; x++)
            blurx[y][x] = (in[y - 2][x] + 4 * in[y - 1][x] + 6 * in[y][x] + 4 * in[y + 1][x]
                           + in[y + 2][x]) / 16;
        for (int x = 2; x < W - 2; x++) {
            blury[y][x] = (blurx[y][x - 2] + 4 * blurx[y][x - 1] + 6 * blurx[y][x] + 4 * blurx[y][x + 1]
                           + blurx[y][x + 2]) / 16;
            sharp[y][x] = (1 + weight) * in[y][x] - weight * blury[y][x];
            out[y][x] = fabsf(in[y][x] - blury[y][x]) < threshold ? in[y][x] : sharp[y][x];
        }
    }
#pragma endscop
}
