/* Harris corner detector, stage by stage: derivatives, their products, sums over three by three cells, response.
   Known from BBC16 Table I (harris-corner), here untiled, and without the cut at zero, which compilers do not
   vectorise. Eight arrays are temporary, and each is live in full; row by row the products live for three rows
   and everything else for one cell. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define SUM(a, y, x) \
    (a[y - 1][x - 1] + a[y - 1][x] + a[y - 1][x + 1] + a[y][x - 1] + a[y][x] + a[y][x + 1] + a[y + 1][x - 1] \
     + a[y + 1][x] + a[y + 1][x + 1])

void harris(int N, const float in[restrict N][N], float out[restrict N][N])
{
    float Ix[N][N], Iy[N][N];
    float Ixx[N][N], Ixy[N][N], Iyy[N][N];
    float Sxx[N][N], Sxy[N][N], Syy[N][N];

#pragma scop
    for (int y = 1; y < N - 1; y++)
        for (int x = 1; x < N - 1; x++) {
            Ix[y][x] = (in[y - 1][x + 1] + 2 * in[y][x + 1] + in[y + 1][x + 1]
                        - in[y - 1][x - 1] - 2 * in[y][x - 1] - in[y + 1][x - 1]) / 12;
            Iy[y][x] = (in[y + 1][x - 1] + 2 * in[y + 1][x] + in[y + 1][x + 1]
                        - in[y - 1][x - 1] - 2 * in[y - 1][x] - in[y - 1][x + 1]) / 12;
        }

    for (int y = 1; y < N - 1; y++)
        for (int x = 1; x < N - 1; x++) {
            Ixx[y][x] = Ix[y][x] * Ix[y][x];
            Ixy[y][x] = Ix[y][x] * Iy[y][x];
            Iyy[y][x] = Iy[y][x] * Iy[y][x];
        }

    for (int y = 2; y < N - 2; y++)
        for (int x = 2; x < N - 2; x++) {
            Sxx[y][x] = SUM(Ixx, y, x);
            Sxy[y][x] = SUM(Ixy, y, x);
            Syy[y][x] = SUM(Iyy, y, x);
        }

    for (int y = 2; y < N - 2; y++)
        for (int x = 2; x < N - 2; x++)
            out[y][x] = Sxx[y][x] * Syy[y][x] - Sxy[y][x] * Sxy[y][x]
                        - 0.04f * (Sxx[y][x] + Syy[y][x]) * (Sxx[y][x] + Syy[y][x]);
#pragma endscop
}
