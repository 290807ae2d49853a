/* Three lines of each product of gradients; sums and the response in one loop. */
#include <stdlib.h>

static inline float sum9(const float *restrict a, const float *restrict b, const float *restrict c, int x)
{
    return a[x - 1] + a[x] + a[x + 1] + b[x - 1] + b[x] + b[x + 1] + c[x - 1] + c[x] + c[x + 1];
}

void harris(int h, int w, const float in[restrict h][w], float out[restrict h][w])
{
    float *lines = malloc(sizeof(float) * 9 * (size_t)w), *xx[3], *xy[3], *yy[3];
    for (int k = 0; k < 3; k++) {
        xx[k] = lines + k * (size_t)w;
        xy[k] = lines + (3 + k) * (size_t)w;
        yy[k] = lines + (6 + k) * (size_t)w;
    }
    for (int y = 1; y < h - 1; y++) {
        float *restrict a = xx[y % 3], *restrict b = xy[y % 3], *restrict c = yy[y % 3];
        for (int x = 1; x < w - 1; x++) {
            float ix = (in[y - 1][x + 1] - in[y - 1][x - 1] + 2 * (in[y][x + 1] - in[y][x - 1])
                        + in[y + 1][x + 1] - in[y + 1][x - 1]) / 12;
            float iy = (in[y + 1][x - 1] - in[y - 1][x - 1] + 2 * (in[y + 1][x] - in[y - 1][x])
                        + in[y + 1][x + 1] - in[y - 1][x + 1]) / 12;
            a[x] = ix * ix;
            b[x] = ix * iy;
            c[x] = iy * iy;
        }
        if (y < 3)
            continue;
        const int k = y % 3, j = (y + 2) % 3, i = (y + 1) % 3;
        float *restrict to = out[y - 1];
        for (int x = 2; x < w - 2; x++) {
            float sxx = sum9(xx[i], xx[j], xx[k], x), sxy = sum9(xy[i], xy[j], xy[k], x);
            float syy = sum9(yy[i], yy[j], yy[k], x), trace = sxx + syy;
            to[x] = sxx * syy - sxy * sxy - 0.04f * trace * trace;
        }
    }
    free(lines);
}
