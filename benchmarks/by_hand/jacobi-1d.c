/* jacobi-1d.c by hand: a window that drifts by a line of the cache each step through memory of N + 512 cells, and is
   moved back when it reaches the begin. */

#include <stdlib.h>
#include <string.h>

#define LINE 8
#define ROOM 512

void jacobi_1d(int T, int N, const double in[restrict N], double out[restrict N])
{
    double *memory = aligned_alloc(64, ((N + ROOM) * sizeof(double) + 63) / 64 * 64);
    double *now = memory + ROOM;
    memcpy(now, in, N * sizeof(double));
    for (int t = 1; t <= T; t++) {
        if (now - memory < LINE) {
            memmove(memory + ROOM, now, N * sizeof(double));
            now = memory + ROOM;
        }
        double *next = now - LINE;
        next[0] = now[0];
#pragma GCC ivdep
        for (int i = 1; i < N - 1; i++)
            next[i] = (now[i - 1] + now[i] + now[i + 1]) * (1.0 / 3);
        next[N - 1] = now[N - 1];
        now = next;
    }
    memcpy(out, now, N * sizeof(double));
    free(memory);
}
