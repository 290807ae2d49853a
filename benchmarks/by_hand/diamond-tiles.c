/* diamond-tiles.c by hand: two rows of the whole line, one for even steps and one for odd ones. The first and the last
   vector of a row of a tile may overlap those between, so that no cell is computed by itself. */

#include <stdlib.h>
#include <string.h>

#define HALF 128
#define SIDE (2 * HALF)
#define LINE 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static inline void cells(long count, double *restrict new, const double *restrict old)
{
    for (long i = 0; i < count; i++)
        new[i] = (old[i - 1] + old[i] + old[i + 1]) * (1.0 / 3);
}

void diamond_tiles(int T, int N, const double in[restrict N], double out[restrict N])
{
    const long pitch = (N + LINE - 1) / LINE * LINE + LINE;
    double *A = aligned_alloc(64, 2 * pitch * sizeof(double));
    memcpy(A, in, N * sizeof(double));
    for (int w = -1; w * HALF <= T; w++)
        for (int p = MAX(w, 0); p * SIDE < N; p++)
            for (int t = MAX(w * HALF, 1); t <= MIN(w * HALF + SIDE - 1, T); t++) {
                const double *old = A + ((t - 1) & 1) * pitch;
                double *new = A + (t & 1) * pitch;
                const int first = MAX(t, MAX(p * SIDE - t, t - (w - p + 1) * SIDE + 1));
                const int last = MIN(N - 1 - t, MIN(p * SIDE + SIDE - 1 - t, t - (w - p) * SIDE));
                if (last - first < LINE) {
                    cells(last - first + 1, new + first, old + first);
                    continue;
                }
                const int begin = (first + LINE - 1) & -LINE, end = (last + 1) & -LINE;
                cells(LINE, new + first, old + first);
                cells((end - begin) & -LINE, new + begin, old + begin);
                cells(LINE, new + last - LINE + 1, old + last - LINE + 1);
            }
    if (T < N - T)
        memcpy(out + T, A + (T & 1) * pitch + T, (N - 2 * T) * sizeof(double));
    free(A);
}
