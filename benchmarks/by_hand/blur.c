/* blur.c by hand: blurx is a ring of lines, x + N y modulo 2 N + 512, and a strip of a row has two plain loops. */

#include <stdlib.h>

#define STRIP 512

void blur_interleaved(int N, const float in[restrict N][N + 2], float out[restrict N][N])
{
    const long ring = 2L * N + STRIP;
    float *blurx = aligned_alloc(64, (ring * sizeof(float) + 63) / 64 * 64);
    long now = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0, stop; x < N; x = stop) {
            long before = now + ring - N, first = now + ring - 2L * N;
            if (before >= ring)
                before -= ring;
            if (first >= ring)
                first -= ring;
            stop = x + STRIP < N ? x + STRIP : N;
            const long positions[] = {now, before, first};
            for (int k = 0; k < 3; k++)
                if (positions[k] + stop - x > ring)
                    stop = x + (int)(ring - positions[k]);
            float *restrict a = blurx + now;
            for (int k = 0; k < stop - x; k++)
                a[k] = (in[y][x + k] + in[y][x + k + 1] + in[y][x + k + 2]) * (1.0f / 3);
            if (y >= 2) {
                const float *b = blurx + before, *c = blurx + first;
                for (int k = 0; k < stop - x; k++)
                    out[y][x + k] = (a[k] + b[k] + c[k]) * (1.0f / 3);
            }
            now += stop - x;
            if (now == ring)
                now = 0;
        }
    free(blurx);
}
