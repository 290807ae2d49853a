/* Loops over all pixels at once beside loops over rows: the first sets a size of its own, the last has channels. */
#include <stddef.h>

void flat_loops(int w, int h, const unsigned char *restrict rgb, float *restrict grey, unsigned char *restrict out)
{
    const size_t pixels = (size_t)w * h;
    int k;
#pragma scop
    for (size_t i = 0; i < pixels; i++)
        grey[i] = 0.25f * rgb[3 * i] + 0.5f * rgb[3 * i + 1] + 0.25f * rgb[3 * i + 2];
    for (int y = 0; y < h; y++)
        for (int x = 1; x < w; x++)
            grey[y * w + x] += grey[y * w + x - 1];
    for (k = 0; k < 3 * w * h; k++)
        out[k] = rgb[k] / 2;
#pragma endscop
}
