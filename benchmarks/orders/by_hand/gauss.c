/* Five lines in a ring. */
#include <stdlib.h>

void gauss(int h, int w, const float in[restrict h][w], float out[restrict h][w])
{
    float *lines = malloc(sizeof(float) * 5 * (size_t)w), *ring[5];
    for (int k = 0; k < 5; k++)
        ring[k] = lines + k * (size_t)w;
    for (int y = 0; y < h; y++) {
        float *restrict to = ring[4];
        const float *restrict from = in[y];
        for (int x = 2; x < w - 2; x++)
            to[x] = 0.0625f * from[x - 2] + 0.25f * from[x - 1] + 0.375f * from[x] + 0.25f * from[x + 1]
                  + 0.0625f * from[x + 2];
        if (y >= 4) {
            const float *a = ring[0], *b = ring[1], *c = ring[2], *d = ring[3], *e = ring[4];
            float *restrict pixel = out[y - 2];
            for (int x = 2; x < w - 2; x++)
                pixel[x] = 0.0625f * a[x] + 0.25f * b[x] + 0.375f * c[x] + 0.25f * d[x] + 0.0625f * e[x];
        }
        float *first = ring[0];
        for (int k = 0; k < 4; k++)
            ring[k] = ring[k + 1];
        ring[4] = first;
    }
    free(lines);
}
