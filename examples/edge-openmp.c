/* The edges of edge-filter.c with the pixels of a row shared out to threads. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#include <stdint.h>
#include <stdlib.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void edge_openmp(int w, int h, const uint8_t *restrict rgb, uint8_t *restrict edges)
{
    uint8_t luma[h * w];
    int16_t smooth[h * w];

#pragma scop
#pragma omp parallel for
    for (int x = 0; x < w; x++) {
        edges[x] = 0;
        edges[(h - 1) * w + x] = 0;
    }
    for (int y = 0; y < h; y++) {
#pragma omp parallel for
        for (int x = 0; x < w; x++) {
            int r = rgb[(y * w + x) * 3], g = rgb[(y * w + x) * 3 + 1], b = rgb[(y * w + x) * 3 + 2];
            luma[y * w + x] = (77 * r + 150 * g + 29 * b) >> 8;
        }
#pragma omp parallel for
        for (int x = 0; x < w; x++)
            smooth[y * w + x] = luma[y * w + MAX(x - 1, 0)] + 2 * luma[y * w + x] + luma[y * w + MIN(x + 1, w - 1)];
        if (y >= 2)
#pragma omp parallel for
            for (int x = 0; x < w; x++) {
                int gx = smooth[(y - 2) * w + MIN(x + 1, w - 1)] - smooth[(y - 2) * w + MAX(x - 1, 0)];
                gx += 2 * (smooth[(y - 1) * w + MIN(x + 1, w - 1)] - smooth[(y - 1) * w + MAX(x - 1, 0)]);
                gx += smooth[y * w + MIN(x + 1, w - 1)] - smooth[y * w + MAX(x - 1, 0)];
                int gy = smooth[y * w + x] - smooth[(y - 2) * w + x];
                edges[(y - 1) * w + x] = (abs(gx) + abs(gy)) >> 5;
            }
    }
#pragma endscop
}
