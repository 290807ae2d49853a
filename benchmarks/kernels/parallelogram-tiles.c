/* A three-point stencil in parallelogram tiles: with s = t + i both loops may be tiled. BBC16 Table II
   (stencil-1d-pllgm-tile), all tiles of it. Without a border: each step has two cells fewer than the one before.
   A is temporary. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define TILE 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void parallelogram_tiles(int T, int N, const double in[restrict N], double out[restrict N])
{
    double A[T + 1][N];

#pragma scop
    for (int i = 0; i < N; i++)
        A[0][i] = in[i];

    for (int tt = 1; tt <= T; tt += TILE)
        for (int ss = 2 * tt; ss < N; ss += TILE)
            for (int t = tt; t <= MIN(tt + TILE - 1, T); t++)
                for (int s = MAX(ss, 2 * t); s <= MIN(ss + TILE - 1, N - 1); s++)
                    A[t][s - t] = (A[t - 1][s - t - 1] + A[t - 1][s - t] + A[t - 1][s - t + 1]) * (1.0 / 3);

    for (int i = T; i < N - T; i++)
        out[i] = A[T][i];
#pragma endscop
}
