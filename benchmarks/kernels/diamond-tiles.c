/* A three-point stencil in diamond tiles: waves of diamonds, each begun on both sides by those of the wave before.
   BBC16 Table II (diamond-tile), all tiles of it. Without a border: each step has two cells fewer than the one
   before. A is temporary. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define HALF 128
#define SIDE (2 * HALF)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void diamond_tiles(int T, int N, const double in[restrict N], double out[restrict N])
{
    double A[T + 1][N];

#pragma scop
    for (int i = 0; i < N; i++)
        A[0][i] = in[i];

    for (int w = -1; w * HALF <= T; w++)
        for (int p = 0; p * SIDE <= N + T; p++)
            for (int t = MAX(w * HALF, 1); t <= MIN(w * HALF + SIDE - 1, T); t++)
                for (int i = MAX(t, MAX(p * SIDE - t, t - (w - p + 1) * SIDE + 1));
                     i <= MIN(N - 1 - t, MIN(p * SIDE + SIDE - 1 - t, t - (w - p) * SIDE)); i++)
                    A[t][i] = (A[t - 1][i - 1] + A[t - 1][i] + A[t - 1][i + 1]) * (1.0 / 3);

    for (int i = T; i < N - T; i++)
        out[i] = A[T][i];
#pragma endscop
}
