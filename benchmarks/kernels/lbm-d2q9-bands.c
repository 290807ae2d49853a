/* T steps of a lattice Boltzmann method on a plane with nine directions in bands of TILE rows, which run in
   parallel; otherwise as in lbm-d2q9.c. The values of a point are declared where they are set, so that each
   thread has its own. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define TILE 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))

static inline double relax(double omega, double weight, double rho, double value, double cu, double uu)
{
    return (1 - omega) * value + omega * weight * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu);
}

void lbm_d2q9(int T, int N, double omega, const double in[restrict 9][N][N], double out[restrict 9][N][N])
{
    double f_o[T + 1][N][N], f_e[T + 1][N][N], f_n[T + 1][N][N], f_w[T + 1][N][N], f_s[T + 1][N][N], f_ne[T + 1][N][N], f_nw[T + 1][N][N], f_sw[T + 1][N][N], f_se[T + 1][N][N];

#pragma scop
#pragma omp parallel for
    for (int b = 0; b < (N + TILE - 1) / TILE; b++)
        for (int i = TILE * b; i <= MIN(TILE * b + TILE - 1, N - 1); i++)
            for (int j = 0; j < N; j++) {
                f_o[0][i][j] = in[0][i][j];
                f_e[0][i][j] = in[1][i][j];
                f_n[0][i][j] = in[2][i][j];
                f_w[0][i][j] = in[3][i][j];
                f_s[0][i][j] = in[4][i][j];
                f_ne[0][i][j] = in[5][i][j];
                f_nw[0][i][j] = in[6][i][j];
                f_sw[0][i][j] = in[7][i][j];
                f_se[0][i][j] = in[8][i][j];
            }
    for (int t = 1; t <= T; t++)
#pragma omp parallel for
        for (int b = 0; b < (N + TILE - 1) / TILE; b++)
            for (int i = TILE * b; i <= MIN(TILE * b + TILE - 1, N - 1); i++)
                for (int j = 0; j < N; j++)
                    if (i == 0 || i == N - 1 || j == 0 || j == N - 1) {
                        f_o[t][i][j] = f_o[t - 1][i][j];
                        f_e[t][i][j] = f_e[t - 1][i][j];
                        f_n[t][i][j] = f_n[t - 1][i][j];
                        f_w[t][i][j] = f_w[t - 1][i][j];
                        f_s[t][i][j] = f_s[t - 1][i][j];
                        f_ne[t][i][j] = f_ne[t - 1][i][j];
                        f_nw[t][i][j] = f_nw[t - 1][i][j];
                        f_sw[t][i][j] = f_sw[t - 1][i][j];
                        f_se[t][i][j] = f_se[t - 1][i][j];
                    } else {
                        const double o = f_o[t - 1][i][j];
                        const double e = f_e[t - 1][i][j - 1];
                        const double n = f_n[t - 1][i - 1][j];
                        const double w = f_w[t - 1][i][j + 1];
                        const double s = f_s[t - 1][i + 1][j];
                        const double ne = f_ne[t - 1][i - 1][j - 1];
                        const double nw = f_nw[t - 1][i - 1][j + 1];
                        const double sw = f_sw[t - 1][i + 1][j + 1];
                        const double se = f_se[t - 1][i + 1][j - 1];
                        const double rho = o + e + n + w + s + ne + nw + sw + se;
                        const double ux = (e + ne + se - w - nw - sw) / rho;
                        const double uy = (n + ne + nw - s - sw - se) / rho;
                        const double uu = ux * ux + uy * uy;
                        f_o[t][i][j] = relax(omega, 4.0 / 9, rho, o, 0, uu);
                        f_e[t][i][j] = relax(omega, 1.0 / 9, rho, e, ux, uu);
                        f_n[t][i][j] = relax(omega, 1.0 / 9, rho, n, uy, uu);
                        f_w[t][i][j] = relax(omega, 1.0 / 9, rho, w, -ux, uu);
                        f_s[t][i][j] = relax(omega, 1.0 / 9, rho, s, -uy, uu);
                        f_ne[t][i][j] = relax(omega, 1.0 / 36, rho, ne, ux + uy, uu);
                        f_nw[t][i][j] = relax(omega, 1.0 / 36, rho, nw, uy - ux, uu);
                        f_sw[t][i][j] = relax(omega, 1.0 / 36, rho, sw, -ux - uy, uu);
                        f_se[t][i][j] = relax(omega, 1.0 / 36, rho, se, ux - uy, uu);
                    }
#pragma omp parallel for
    for (int b = 0; b < (N + TILE - 1) / TILE; b++)
        for (int i = TILE * b; i <= MIN(TILE * b + TILE - 1, N - 1); i++)
            for (int j = 0; j < N; j++) {
                out[0][i][j] = f_o[T][i][j];
                out[1][i][j] = f_e[T][i][j];
                out[2][i][j] = f_n[T][i][j];
                out[3][i][j] = f_w[T][i][j];
                out[4][i][j] = f_s[T][i][j];
                out[5][i][j] = f_ne[T][i][j];
                out[6][i][j] = f_nw[T][i][j];
                out[7][i][j] = f_sw[T][i][j];
                out[8][i][j] = f_se[T][i][j];
            }
#pragma endscop
}
