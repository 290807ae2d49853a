/* Five lines. */
#include <stdlib.h>

static void line(int w, const float *restrict in, float *restrict to)
{
    for (int x = 0; x < w; x++)
        to[x] = 0.0625f * in[2 * x] + 0.25f * in[2 * x + 1] + 0.375f * in[2 * x + 2] + 0.25f * in[2 * x + 3]
              + 0.0625f * in[2 * x + 4];
}

void pyramid(int h, int w, const float in[restrict 2 * h + 3][2 * w + 4], float out[restrict h][w])
{
    float *lines = malloc(sizeof(float) * 5 * (size_t)w), *a[5];
    for (int k = 0; k < 5; k++)
        a[k] = lines + k * (size_t)w;
    for (int y = 0; y < 3; y++)
        line(w, in[y], a[y + 2]);
    for (int y = 0; y < h; y++) {
        float *first = a[0], *second = a[1];
        a[0] = a[2], a[1] = a[3], a[2] = a[4], a[3] = first, a[4] = second;
        line(w, in[2 * y + 3], a[3]);
        line(w, in[2 * y + 4], a[4]);
        const float *p = a[0], *q = a[1], *r = a[2], *s = a[3], *t = a[4];
        float *restrict to = out[y];
        for (int x = 0; x < w; x++)
            to[x] = 0.0625f * p[x] + 0.25f * q[x] + 0.375f * r[x] + 0.25f * s[x] + 0.0625f * t[x];
    }
    free(lines);
}
