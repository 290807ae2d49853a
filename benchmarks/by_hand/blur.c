/* blur.c by hand: four rows at a time, whose values in between are in registers, and the last two rows of them. */

#include <stdlib.h>

static inline float along(const float *in) { return (in[0] + in[1] + in[2]) * (1.0f / 3); }

void blur_interleaved(int N, const float in[restrict N][N + 2], float out[restrict N][N])
{
    float *restrict before = malloc(N * sizeof(float)), *restrict first = malloc(N * sizeof(float));
    int y = 2;
    for (int x = 0; x < N; x++)
        first[x] = along(&in[0][x]);
    for (int x = 0; N > 1 && x < N; x++)
        before[x] = along(&in[1][x]);
    for (; y + 4 <= N; y += 4)
#pragma GCC ivdep
        for (int x = 0; x < N; x++) {
            const float a = along(&in[y][x]), b = along(&in[y + 1][x]);
            const float c = along(&in[y + 2][x]), d = along(&in[y + 3][x]);
            out[y][x] = (a + before[x] + first[x]) * (1.0f / 3);
            out[y + 1][x] = (b + a + before[x]) * (1.0f / 3);
            out[y + 2][x] = (c + b + a) * (1.0f / 3);
            out[y + 3][x] = (d + c + b) * (1.0f / 3);
            first[x] = c;
            before[x] = d;
        }
    for (; y < N; y++)
        for (int x = 0; x < N; x++) {
            const float a = along(&in[y][x]);
            out[y][x] = (a + before[x] + first[x]) * (1.0f / 3);
            first[x] = before[x];
            before[x] = a;
        }
    free(first);
    free(before);
}
