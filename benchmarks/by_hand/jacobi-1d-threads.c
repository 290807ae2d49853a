/* jacobi-bands.c by hand: each thread has a band with HALO cells of its neighbours on either side, in a window that
   drifts by a line of the cache each step through memory with ROOM more cells. The outermost cells of a window get
   wrong one by one; after HALO steps they are exchanged. */

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define LINE 8
#define ROOM 512
#define HALO 16
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Cells that a band leaves to its neighbours. */
typedef struct {
    double left[HALO], right[HALO];
} ends;

static void jacobi_step(long count, double *next, const double *now)
{
    next = __builtin_assume_aligned(next, 64);
    now = __builtin_assume_aligned(now, 64);
#pragma GCC ivdep
    for (long x = 0; x < (count & -LINE); x++)
        next[x] = (now[x - 1] + now[x] + now[x + 1]) * (1.0 / 3);
}

void jacobi_1d(int T, int N, const double in[restrict N], double out[restrict N])
{
    ends *shared = malloc(2 * omp_get_max_threads() * sizeof *shared);
#pragma omp parallel
    {
        const int bands = MAX(1, MIN(omp_get_num_threads(), N / HALO)), b = omp_get_thread_num();
        const long lo = (long)N * b / bands, hi = (long)N * (b + 1) / bands, own = hi - lo;
        const long width = (own + 2 * HALO + LINE - 1) & -LINE, cells = width + ROOM + 2 * LINE;
        double *memory = NULL, *now = NULL;
        if (b < bands) {
            memory = aligned_alloc(64, cells * sizeof(double));
            now = memory + ROOM + LINE;
            for (long k = 0; k < cells; k++)
                memory[k] = 1;
            const long first = MAX(lo - HALO, 0), last = MIN(hi + HALO, N);
            memcpy(now + HALO + first - lo, in + first, (last - first) * sizeof(double));
        }
        for (int t = 1; t <= T; t++) {
            if (t > 1 && (t - 1) % HALO == 0) {
                ends *all = shared + (t - 1) / HALO % 2 * bands;
                if (b < bands) {
                    memcpy(all[b].left, now + HALO, sizeof all[b].left);
                    memcpy(all[b].right, now + own, sizeof all[b].right);
                }
#pragma omp barrier
                if (b < bands && b > 0)
                    memcpy(now, all[b - 1].right, sizeof all[b].right);
                if (b < bands - 1)
                    memcpy(now + HALO + own, all[b + 1].left, sizeof all[b].left);
            }
            if (b >= bands)
                continue;
            if (now - memory < 2 * LINE) {
                memmove(memory + ROOM + LINE, now, width * sizeof(double));
                now = memory + ROOM + LINE;
            }
            double *next = now - LINE;
            jacobi_step(width, next, now);
            if (b == 0)
                next[HALO] = in[0];
            if (b == bands - 1)
                next[HALO + own - 1] = in[N - 1];
            now = next;
        }
        if (b < bands)
            memcpy(out + lo, now + HALO, own * sizeof(double));
        free(memory);
    }
    free(shared);
}
