/* An RGB image in one dimension, its rows clamped at the border, and a grey one with a stride of its own. */
#include <stdint.h>

void flat_image(int w, int h, int stride, const uint8_t *restrict in, uint8_t *restrict grey,
                uint8_t *restrict out)
{
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            grey[y * stride + x] = (in[(y * w + x) * 3] + 2 * in[(y * w + x) * 3 + 1] + in[3 * (x + w * y) + 2]) / 4;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int ym = y > 0 ? y - 1 : 0, yp = y < h - 1 ? y + 1 : h - 1;
            out[y * w + x] = (grey[ym * stride + x] + 2 * grey[y * stride + x] + grey[yp * stride + x]) / 4;
        }
#pragma endscop
}
