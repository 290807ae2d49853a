/* Gaussian blur of an 8-bit grey image: a row of vertical sums, and then along that row. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#include <stdint.h>
#include <stdlib.h>

#define CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))

int gauss_blur(const uint8_t *restrict src, uint8_t *restrict dst, int width, int height)
{
    if (width < 1 || height < 1)
        return 0;

    uint16_t *tmp = malloc((size_t)width * height * sizeof *tmp);
    if (tmp == NULL)
        return -1;

#pragma scop
    for (int y = 0; y < height; y++) {
        int up = CLAMP(y - 1, 0, height - 1);
        int down = CLAMP(y + 1, 0, height - 1);
        for (int x = 0; x < width; x++)
            tmp[y * width + x] = src[up * width + x] + 2 * src[y * width + x] + src[down * width + x];
        for (int x = 0; x < width; x++) {
            int left = CLAMP(x - 1, 0, width - 1);
            int right = CLAMP(x + 1, 0, width - 1);
            dst[y * width + x] = (tmp[y * width + left] + 2 * tmp[y * width + x] + tmp[y * width + right] + 8) >> 4;
        }
    }
#pragma endscop

    free(tmp);
    return 0;
}
