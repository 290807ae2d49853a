/* Harris corner detection, one loop nest for each stage. */
#include <stdlib.h>

void harris(int h, int w, const float in[restrict h][w], float out[restrict h][w])
{
    float (*ix)[w] = malloc(sizeof(float[h][w])), (*iy)[w] = malloc(sizeof(float[h][w]));
    float (*xx)[w] = malloc(sizeof(float[h][w])), (*xy)[w] = malloc(sizeof(float[h][w]));
    float (*yy)[w] = malloc(sizeof(float[h][w]));
    float (*sxx)[w] = malloc(sizeof(float[h][w])), (*sxy)[w] = malloc(sizeof(float[h][w]));
    float (*syy)[w] = malloc(sizeof(float[h][w]));
#pragma scop
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            ix[y][x] = (in[y - 1][x + 1] - in[y - 1][x - 1] + 2 * (in[y][x + 1] - in[y][x - 1])
                        + in[y + 1][x + 1] - in[y + 1][x - 1]) / 12;
            iy[y][x] = (in[y + 1][x - 1] - in[y - 1][x - 1] + 2 * (in[y + 1][x] - in[y - 1][x])
                        + in[y + 1][x + 1] - in[y - 1][x + 1]) / 12;
        }
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            xx[y][x] = ix[y][x] * ix[y][x];
            xy[y][x] = ix[y][x] * iy[y][x];
            yy[y][x] = iy[y][x] * iy[y][x];
        }
    for (int y = 2; y < h - 2; y++)
        for (int x = 2; x < w - 2; x++) {
            sxx[y][x] = xx[y - 1][x - 1] + xx[y - 1][x] + xx[y - 1][x + 1] + xx[y][x - 1] + xx[y][x]
                      + xx[y][x + 1] + xx[y + 1][x - 1] + xx[y + 1][x] + xx[y + 1][x + 1];
            sxy[y][x] = xy[y - 1][x - 1] + xy[y - 1][x] + xy[y - 1][x + 1] + xy[y][x - 1] + xy[y][x]
                      + xy[y][x + 1] + xy[y + 1][x - 1] + xy[y + 1][x] + xy[y + 1][x + 1];
            syy[y][x] = yy[y - 1][x - 1] + yy[y - 1][x] + yy[y - 1][x + 1] + yy[y][x - 1] + yy[y][x]
                      + yy[y][x + 1] + yy[y + 1][x - 1] + yy[y + 1][x] + yy[y + 1][x + 1];
        }
    for (int y = 2; y < h - 2; y++)
        for (int x = 2; x < w - 2; x++) {
            float trace = sxx[y][x] + syy[y][x];
            out[y][x] = sxx[y][x] * syy[y][x] - sxy[y][x] * sxy[y][x] - 0.04f * trace * trace;
        }
#pragma endscop
    free(ix);
    free(iy);
    free(xx);
    free(xy);
    free(yy);
    free(sxx);
    free(sxy);
    free(syy);
}
