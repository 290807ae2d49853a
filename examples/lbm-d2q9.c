/* T steps of a lattice Boltzmann method on a plane with nine directions, pull model; the border is fixed. The
   program behind BBC16 Fig. 6.
   f is temporary: every step has a lattice of its own, but a step reads only the one before. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define DIRECTIONS 9

/* The last subscript of f: rest, the four sides, the four corners. */
#define REST 0
#define E 1
#define N 2
#define W 3
#define S 4
#define NE 5
#define NW 6
#define SW 7
#define SE 8

static double equilibrium(double weight, double rho, double cu, double uu)
{
    return weight * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu);
}

#define RELAX(weight, value, cu) \
    ((1 - omega) * (value) + omega * equilibrium(weight, rho, cu, ux * ux + uy * uy))

void lbm_d2q9(int T, int H, int L, double omega, const double in[restrict H][L][DIRECTIONS],
              double density[restrict H][L])
{
    double f[T + 1][H][L][DIRECTIONS];
    double o, e, n, w, s, ne, nw, sw, se;
    double rho, ux, uy;

#pragma scop
    for (int i = 0; i < H; i++)
        for (int j = 0; j < L; j++)
            for (int q = 0; q < DIRECTIONS; q++)
                f[0][i][j][q] = in[i][j][q];

    for (int t = 1; t <= T; t++)
        for (int i = 0; i < H; i++)
            for (int j = 0; j < L; j++)
                if (i == 0 || i == H - 1 || j == 0 || j == L - 1) {
                    for (int q = 0; q < DIRECTIONS; q++)
                        f[t][i][j][q] = f[t - 1][i][j][q];
                } else {
                    /* Pull: what moves east comes from the west. */
                    o = f[t - 1][i][j][REST];
                    e = f[t - 1][i][j - 1][E];
                    n = f[t - 1][i - 1][j][N];
                    w = f[t - 1][i][j + 1][W];
                    s = f[t - 1][i + 1][j][S];
                    ne = f[t - 1][i - 1][j - 1][NE];
                    nw = f[t - 1][i - 1][j + 1][NW];
                    sw = f[t - 1][i + 1][j + 1][SW];
                    se = f[t - 1][i + 1][j - 1][SE];

                    rho = o + e + n + w + s + ne + nw + sw + se;
                    ux = (e + ne + se - w - nw - sw) / rho;
                    uy = (n + ne + nw - s - sw - se) / rho;

                    /* Collide. */
                    f[t][i][j][REST] = RELAX(4.0 / 9, o, 0);
                    f[t][i][j][E] = RELAX(1.0 / 9, e, ux);
                    f[t][i][j][N] = RELAX(1.0 / 9, n, uy);
                    f[t][i][j][W] = RELAX(1.0 / 9, w, -ux);
                    f[t][i][j][S] = RELAX(1.0 / 9, s, -uy);
                    f[t][i][j][NE] = RELAX(1.0 / 36, ne, ux + uy);
                    f[t][i][j][NW] = RELAX(1.0 / 36, nw, uy - ux);
                    f[t][i][j][SW] = RELAX(1.0 / 36, sw, -ux - uy);
                    f[t][i][j][SE] = RELAX(1.0 / 36, se, ux - uy);
                }

    for (int i = 0; i < H; i++)
        for (int j = 0; j < L; j++) {
            density[i][j] = 0;
            for (int q = 0; q < DIRECTIONS; q++)
                density[i][j] += f[T][i][j][q];
        }
#pragma endscop
}
