/* One line of luminance, five of their averages; the last two stages in one loop, borders apart. */
#include <stdlib.h>

void tone(int h, int w, float key, const float in[restrict h][w], float out[restrict h][w])
{
    float *lines = malloc(sizeof(float) * 6 * (size_t)w), *restrict light = lines;
    for (int y = 0; y < h + 2; y++) {
        if (y < h) {
            float *restrict to = lines + (size_t)(1 + y % 5) * w;
            for (int x = 0; x < w; x++)
                light[x] = in[y][x] / (1 + in[y][x]);
            for (int x = 0; x < w && x < 2; x++)
                to[x] = light[x];
            for (int x = 2; x < w - 2; x++)
                to[x] = 0.2f * (light[x - 2] + light[x - 1] + light[x] + light[x + 1] + light[x + 2]);
            for (int x = w - 2 > 2 ? w - 2 : 2; x < w; x++)
                to[x] = light[x];
        }
        if (y < 2)
            continue;
        const float *c = lines + (size_t)(1 + (y - 2) % 5) * w;
        if (y - 2 >= 2 && y < h) {
            const float *a = lines + (size_t)(1 + (y - 4) % 5) * w, *b = lines + (size_t)(1 + (y - 3) % 5) * w;
            const float *d = lines + (size_t)(1 + (y - 1) % 5) * w, *e = lines + (size_t)(1 + y % 5) * w;
            for (int x = 0; x < w; x++)
                out[y - 2][x] = key * in[y - 2][x] / (key + 0.2f * (a[x] + b[x] + c[x] + d[x] + e[x]));
        } else {
            for (int x = 0; x < w; x++)
                out[y - 2][x] = key * in[y - 2][x] / (key + c[x]);
        }
    }
    free(lines);
}
