/* jacobi-2d.c by hand: N + 1 rows and a table of pointers to them. A new row goes to the free one, and the row above
   the one it replaces is free then. */

#include <stdlib.h>
#include <string.h>

void jacobi_2d(int T, int N, const double in[restrict N][N], double out[restrict N][N])
{
    const long pitch = (N + 7) / 8 * 8 + 8;
    double *memory = aligned_alloc(64, (N + 2) * pitch * sizeof(double));
    double **row = malloc(N * sizeof *row), *spare = memory + 7;
    for (int i = 0; i < N; i++) {
        row[i] = memory + (i + 1) * pitch + 7;
        memcpy(row[i], in[i], N * sizeof(double));
    }
    for (int t = 1; t <= T; t++) {
        double *above = row[0];
        memcpy(spare, row[0], N * sizeof(double));
        row[0] = spare;
        for (int i = 1; i < N - 1; i++) {
            double *mine = row[i], *below = row[i + 1];
            /* The row above is read here for the last time, element by element before it is overwritten. */
            double *new = above;
            new[0] = mine[0];
#pragma GCC ivdep
            for (int j = 1; j < N - 1; j++)
                new[j] = 0.2 * (mine[j] + above[j] + below[j] + mine[j - 1] + mine[j + 1]);
            new[N - 1] = mine[N - 1];
            row[i] = new;
            above = mine;
        }
        spare = above;
    }
    for (int i = 0; i < N; i++)
        memcpy(out[i], row[i], N * sizeof(double));
    free(row);
    free(memory);
}
