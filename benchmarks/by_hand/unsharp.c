/* unsharp.c by hand: strips of 1024 columns, in each a row of blurx with two cells of its neighbours on each side. */

#include <math.h>

#define STRIP 1024

typedef float pixel;

void unsharp(int H, int W, pixel weight, pixel threshold, const pixel in[restrict H][W], pixel out[restrict H][W])
{
    float row[STRIP + 4] __attribute__((aligned(64)));
    for (int x0 = 0; x0 < W; x0 += STRIP) {
        const int x1 = x0 + STRIP < W ? x0 + STRIP : W;
        const int left = x0 ? x0 - 2 : 0, right = x1 < W ? x1 + 2 : W;
        const int first = x0 < 2 ? 2 : x0, last = x1 > W - 2 ? W - 2 : x1;
        const float *blurx = row - left;
        for (int y = 2; y < H - 2; y++) {
            for (int x = left; x < right; x++)
                row[x - left] = (in[y - 2][x] + 4 * in[y - 1][x] + 6 * in[y][x] + 4 * in[y + 1][x] + in[y + 2][x]) / 16;
            for (int x = first; x < last; x++) {
                const float blury = (blurx[x - 2] + 4 * blurx[x - 1] + 6 * blurx[x] + 4 * blurx[x + 1] + blurx[x + 2]) / 16;
                const float sharp = (1 + weight) * in[y][x] - weight * blury;
                out[y][x] = fabsf(in[y][x] - blury) < threshold ? in[y][x] : sharp;
            }
        }
    }
}
