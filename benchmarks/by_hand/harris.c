/* harris.c by hand: three rows of each product, whose pointers turn, and scalars for the rest. */

#include <stdlib.h>

#define SUM(a) \
    (a[0][x - 1] + a[0][x] + a[0][x + 1] + a[1][x - 1] + a[1][x] + a[1][x + 1] + a[2][x - 1] + a[2][x] + a[2][x + 1])

void harris(int N, const float in[restrict N][N], float out[restrict N][N])
{
    const long pitch = (N + 15) / 16 * 16 + 16;
    float *memory = aligned_alloc(64, (9 * pitch + 16) * sizeof(float));
    float *xx[3], *xy[3], *yy[3];
    for (int k = 0; k < 3; k++) {
        xx[k] = memory + 15 + 3 * k * pitch;
        xy[k] = xx[k] + pitch;
        yy[k] = xy[k] + pitch;
    }
    for (int y = 1; y < N - 1; y++) {
        float *const turned[] = {xx[0], xy[0], yy[0]};
        xx[0] = xx[1], xx[1] = xx[2], xx[2] = turned[0];
        xy[0] = xy[1], xy[1] = xy[2], xy[2] = turned[1];
        yy[0] = yy[1], yy[1] = yy[2], yy[2] = turned[2];
        float *restrict a = xx[2], *restrict b = xy[2], *restrict c = yy[2];
        for (int x = 1; x < N - 1; x++) {
            const float dx = (in[y - 1][x + 1] + 2 * in[y][x + 1] + in[y + 1][x + 1]
                              - in[y - 1][x - 1] - 2 * in[y][x - 1] - in[y + 1][x - 1]) / 12;
            const float dy = (in[y + 1][x - 1] + 2 * in[y + 1][x] + in[y + 1][x + 1]
                              - in[y - 1][x - 1] - 2 * in[y - 1][x] - in[y - 1][x + 1]) / 12;
            a[x] = dx * dx;
            b[x] = dx * dy;
            c[x] = dy * dy;
        }
        if (y >= 3) {
#pragma GCC ivdep
            for (int x = 2; x < N - 2; x++) {
                const float sxx = SUM(xx), sxy = SUM(xy), syy = SUM(yy);
                out[y - 1][x] = sxx * syy - sxy * sxy - 0.04f * (sxx + syy) * (sxx + syy);
            }
        }
    }
    free(memory);
}
