/* T steps of a three-point Jacobi iteration in parallelogram tiles: with s = t + i every dependence goes
   forward in t and in s, so both loops may be tiled. One tile of it is BBC16 Table I, stencil-1d-pllgm-tile.
   A is temporary: a band of TILE steps needs the last row of the band before and the border of the tile to
   its left, N + TILE cells. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define TILE 4
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))

void jacobi_1d_tiled(int T, int N, const double in[restrict N], double out[restrict N])
{
    int tt, ss, t, s, i;
    double A[T + 1][N];

#pragma scop
    for (i = 0; i < N; i++)
        A[0][i] = in[i];

    for (tt = 1; tt <= T; tt += TILE)
        for (ss = tt; ss < tt + TILE - 1 + N; ss += TILE)
            for (t = tt; t <= min(tt + TILE - 1, T); t++)
                for (s = max(ss, t); s <= min(ss + TILE - 1, t + N - 1); s++) {
                    if (s == t || s == t + N - 1)
                        A[t][s - t] = A[t - 1][s - t];
                    else
                        A[t][s - t] = (A[t - 1][s - t - 1] + A[t - 1][s - t] + A[t - 1][s - t + 1]) / 3.0;
                }

    for (i = 0; i < N; i++)
        out[i] = A[T][i];
#pragma endscop
}
