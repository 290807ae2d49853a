/* Two-stage box blur of a picture in one piece of memory, borders clamped. */
#include <stdlib.h>

void blur(int h, int w, const float *restrict in, float *restrict out)
{
    float *tmp = malloc(sizeof(float) * (size_t)h * w);
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int left = x > 0 ? x - 1 : 0, right = x < w - 1 ? x + 1 : w - 1;
            tmp[y * w + x] = (in[y * w + left] + in[y * w + x] + in[y * w + right]) * (1.0f / 3);
        }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int up = y > 0 ? y - 1 : 0, down = y < h - 1 ? y + 1 : h - 1;
            out[y * w + x] = (tmp[up * w + x] + tmp[y * w + x] + tmp[down * w + x]) * (1.0f / 3);
        }
#pragma endscop
    free(tmp);
}
