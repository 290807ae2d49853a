/* Edges of an image, mirrored left to right: levels clipped at a limit, gradient, strength as a whole
   number.
   level, dx and dy are temporary. A cell of level is first set and then perhaps clipped; whether it is
   depends on data, so the second write may or may not happen. W + 1 cells of level are live at once, one of
   dx and dy. */

#include <math.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void edges(int H, int W, double limit, const double in[restrict H][W], int out[restrict H][W])
{
    double level[H][W], dx[H][W], dy[H][W];

#pragma scop
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            level[y][x] = in[y][x];
            if (in[y][x] > limit)
                level[y][x] = limit;

            if (y >= 1 && x >= 1) {
                dx[y][x] = level[y][x] - level[y][x - 1];
                dy[y][x] = level[y][x] - level[y - 1][x];
                out[y][W - 1 - x] = (int)sqrt(dx[y][x] * dx[y][x] + dy[y][x] * dy[y][x]);
            }
        }
#pragma endscop
}
