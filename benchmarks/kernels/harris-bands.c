/* Harris corner detector in bands of TILE rows, which run in parallel, inside a band row by row: derivatives and
   their products, then sums over three by three cells and the response of the row before. Eight arrays are
   temporary; each band computes a row of products above and below its own again. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define TILE 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SUM(a, y, x) \
    (a[y - 1][x - 1] + a[y - 1][x] + a[y - 1][x + 1] + a[y][x - 1] + a[y][x] + a[y][x + 1] + a[y + 1][x - 1] \
     + a[y + 1][x] + a[y + 1][x + 1])

void harris(int N, const float in[restrict N][N], float out[restrict N][N])
{
    float Ix[N][N], Iy[N][N];
    float Ixx[N][N], Ixy[N][N], Iyy[N][N];
    float Sxx[N][N], Sxy[N][N], Syy[N][N];

#pragma scop
#pragma omp parallel for
    for (int ty = 0; ty < N; ty += TILE)
        for (int y = MAX(ty - 1, 1); y <= MIN(ty + TILE, N - 2); y++) {
            for (int x = 1; x <= N - 2; x++) {
                Ix[y][x] = (in[y - 1][x + 1] + 2 * in[y][x + 1] + in[y + 1][x + 1]
                            - in[y - 1][x - 1] - 2 * in[y][x - 1] - in[y + 1][x - 1]) / 12;
                Iy[y][x] = (in[y + 1][x - 1] + 2 * in[y + 1][x] + in[y + 1][x + 1]
                            - in[y - 1][x - 1] - 2 * in[y - 1][x] - in[y - 1][x + 1]) / 12;
                Ixx[y][x] = Ix[y][x] * Ix[y][x];
                Ixy[y][x] = Ix[y][x] * Iy[y][x];
                Iyy[y][x] = Iy[y][x] * Iy[y][x];
            }
            if (y >= ty + 1 && y >= 3)
                for (int x = 2; x <= N - 3; x++) {
                    Sxx[y - 1][x] = SUM(Ixx, y - 1, x);
                    Sxy[y - 1][x] = SUM(Ixy, y - 1, x);
                    Syy[y - 1][x] = SUM(Iyy, y - 1, x);
                    out[y - 1][x] = Sxx[y - 1][x] * Syy[y - 1][x] - Sxy[y - 1][x] * Sxy[y - 1][x]
                                    - 0.04f * (Sxx[y - 1][x] + Syy[y - 1][x]) * (Sxx[y - 1][x] + Syy[y - 1][x]);
                }
        }
#pragma endscop
}
