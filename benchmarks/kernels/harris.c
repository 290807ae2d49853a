/* Harris corner detector, row by row: derivatives, their products, sums over three by three cells, response.
   Known from BBC16 Table I (harris-corner), here untiled, and without the
   cut at zero, which compilers do not vectorise.
   Eight arrays are temporary: the products live for three rows, everything else for one cell. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void harris(int N, const float in[restrict N][N], float out[restrict N][N])
{
    float Ix[N][N], Iy[N][N];
    float Ixx[N][N], Ixy[N][N], Iyy[N][N];
    float Sxx[N][N], Sxy[N][N], Syy[N][N];
    float det, trace;

#pragma scop
    for (int y = 1; y < N - 1; y++) {
        for (int x = 1; x < N - 1; x++) {
            Ix[y][x] = (in[y - 1][x + 1] + 2 * in[y][x + 1] + in[y + 1][x + 1]
                        - in[y - 1][x - 1] - 2 * in[y][x - 1] - in[y + 1][x - 1]) / 12;
            Iy[y][x] = (in[y + 1][x - 1] + 2 * in[y + 1][x] + in[y + 1][x + 1]
                        - in[y - 1][x - 1] - 2 * in[y - 1][x] - in[y - 1][x + 1]) / 12;
            Ixx[y][x] = Ix[y][x] * Ix[y][x];
            Ixy[y][x] = Ix[y][x] * Iy[y][x];
            Iyy[y][x] = Iy[y][x] * Iy[y][x];
        }

        /* One row behind, because the sums need the row below. */
        if (y >= 3)
            for (int x = 2; x < N - 2; x++) {
                Sxx[y - 1][x] = Sxy[y - 1][x] = Syy[y - 1][x] = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++) {
                        Sxx[y - 1][x] += Ixx[y - 1 + dy][x + dx];
                        Sxy[y - 1][x] += Ixy[y - 1 + dy][x + dx];
                        Syy[y - 1][x] += Iyy[y - 1 + dy][x + dx];
                    }
                det = Sxx[y - 1][x] * Syy[y - 1][x] - Sxy[y - 1][x] * Sxy[y - 1][x];
                trace = Sxx[y - 1][x] + Syy[y - 1][x];
                out[y - 1][x] = det - 0.04f * trace * trace;
            }
    }
#pragma endscop
}
