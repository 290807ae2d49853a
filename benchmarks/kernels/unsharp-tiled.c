/* Unsharp mask of a grey image in square tiles, inside a tile row by row: blur by columns, blur by rows, sharpen,
   keep what differs little from its blur. BBC16 Table II (unsharp-mask-tiled). blurx, blury and sharp are
   temporary; the later stages are two columns behind, so a tile leaves four columns of blurx to the next. */

#include <math.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define TILE 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void unsharp_tiled(int H, int W, float weight, float threshold, const float in[restrict H][W],
                   float out[restrict H][W])
{
    float blurx[H][W], blury[H][W], sharp[H][W];

#pragma scop
    for (int ty = 0; ty < H; ty += TILE)
        for (int tx = 0; tx < W; tx += TILE)
            for (int y = MAX(ty, 2); y <= MIN(ty + TILE - 1, H - 3); y++) {
                for (int x = tx; x <= MIN(tx + TILE - 1, W - 1); x++)
                    blurx[y][x] = (in[y - 2][x] + 4 * in[y - 1][x] + 6 * in[y][x] + 4 * in[y + 1][x]
                                   + in[y + 2][x]) / 16;
                for (int x = MAX(tx - 2, 2); x <= MIN(tx + TILE - 3, W - 3); x++) {
                    blury[y][x] = (blurx[y][x - 2] + 4 * blurx[y][x - 1] + 6 * blurx[y][x]
                                   + 4 * blurx[y][x + 1] + blurx[y][x + 2]) / 16;
                    sharp[y][x] = (1 + weight) * in[y][x] - weight * blury[y][x];
                    out[y][x] = fabsf(in[y][x] - blury[y][x]) < threshold ? in[y][x] : sharp[y][x];
                }
            }
#pragma endscop
}
