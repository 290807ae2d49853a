/* Unsharp mask of a grey image: blur by columns, blur by rows, sharpen, keep what differs little from its
   blur. Known from BBC16 Table I (unsharp-mask), here untiled.
   blurx, blury and sharp are temporary. Each is written by a loop nest of its own, so all of them are live in
   full; after fusion of the nests blurx needs five cells and the others one. */

#include <math.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

typedef float pixel;

void unsharp(int H, int W, pixel weight, pixel threshold, const pixel in[restrict H][W],
             pixel out[restrict H][W])
{
    pixel blurx[H][W], blury[H][W], sharp[H][W];

#pragma scop
    /* Binomial weights 1 4 6 4 1, first along the columns. */
    for (int y = 2; y < H - 2; y++)
        for (int x = 0; x < W; x++)
            blurx[y][x] = (in[y - 2][x] + 4 * in[y - 1][x] + 6 * in[y][x] + 4 * in[y + 1][x]
                           + in[y + 2][x]) / 16;

    /* Then along the rows. */
    for (int y = 2; y < H - 2; y++)
        for (int x = 2; x < W - 2; x++)
            blury[y][x] = (blurx[y][x - 2] + 4 * blurx[y][x - 1] + 6 * blurx[y][x] + 4 * blurx[y][x + 1]
                           + blurx[y][x + 2]) / 16;

    for (int y = 2; y < H - 2; y++)
        for (int x = 2; x < W - 2; x++)
            sharp[y][x] = (1 + weight) * in[y][x] - weight * blury[y][x];

    for (int y = 2; y < H - 2; y++)
        for (int x = 2; x < W - 2; x++)
            out[y][x] = fabsf(in[y][x] - blury[y][x]) < threshold ? in[y][x] : sharp[y][x];
#pragma endscop
}
