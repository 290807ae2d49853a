/* One line of the first filter; the rest in one loop, values in registers. */
#include <stdlib.h>

void unsharp(int h, int w, float weight, float threshold, const float in[restrict h][w], float out[restrict h][w])
{
    float *restrict line = malloc(sizeof(float) * w);
    for (int y = 2; y < h - 2; y++) {
        for (int x = 0; x < w; x++)
            line[x] = 0.0625f * in[y - 2][x] + 0.25f * in[y - 1][x] + 0.375f * in[y][x] + 0.25f * in[y + 1][x]
                    + 0.0625f * in[y + 2][x];
        for (int x = 2; x < w - 2; x++) {
            float blurred = 0.0625f * line[x - 2] + 0.25f * line[x - 1] + 0.375f * line[x] + 0.25f * line[x + 1]
                          + 0.0625f * line[x + 2];
            float sharp = in[y][x] * (1 + weight) - blurred * weight;
            float difference = in[y][x] - blurred;
            out[y][x] = (difference < 0 ? -difference : difference) < threshold ? in[y][x] : sharp;
        }
    }
    free(line);
}
