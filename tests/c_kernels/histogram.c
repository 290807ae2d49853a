/* Subscripts that depend on data mean any element, or any that the other subscripts leave. */
#include <stdint.h>

void histogram(int w, int h, const uint8_t *restrict img, int hist[256], const int *restrict lut, int out[16][w],
               const int *restrict at)
{
#pragma scop
    for (int i = 0; i < 256; i++)
        hist[i] = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            hist[img[y * w + x]]++;
            out[at[y]][x] = lut[img[y * w + x]];
        }
#pragma endscop
}
