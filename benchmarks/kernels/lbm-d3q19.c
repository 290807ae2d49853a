/* T steps of a lattice Boltzmann method in space with nineteen directions (no corners), pull model, one array a
   direction; the border is fixed. The program of BBC16 Table I, written by lattice_boltzmann.py. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

static inline double relax(double omega, double weight, double rho, double value, double cu, double uu)
{
    return (1 - omega) * value + omega * weight * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu);
}

void lbm_d3q19(int T, int N, double omega, const double in[restrict 19][N][N][N],
               double out[restrict 19][N][N][N])
{
    double f_o[T + 1][N][N][N], f_u[T + 1][N][N][N], f_d[T + 1][N][N][N], f_e[T + 1][N][N][N],
           f_w[T + 1][N][N][N], f_n[T + 1][N][N][N], f_s[T + 1][N][N][N], f_eu[T + 1][N][N][N],
           f_ed[T + 1][N][N][N], f_wu[T + 1][N][N][N], f_wd[T + 1][N][N][N], f_nu[T + 1][N][N][N],
           f_nd[T + 1][N][N][N], f_ne[T + 1][N][N][N], f_nw[T + 1][N][N][N], f_su[T + 1][N][N][N],
           f_sd[T + 1][N][N][N], f_se[T + 1][N][N][N], f_sw[T + 1][N][N][N];
    double o, u, d, e, w, n, s, eu, ed, wu, wd, nu, nd, ne, nw, su, sd, se, sw, rho, ux, uy, uz, uu;

#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) {
                f_o[0][i][j][k] = in[0][i][j][k];
                f_u[0][i][j][k] = in[1][i][j][k];
                f_d[0][i][j][k] = in[2][i][j][k];
                f_e[0][i][j][k] = in[3][i][j][k];
                f_w[0][i][j][k] = in[4][i][j][k];
                f_n[0][i][j][k] = in[5][i][j][k];
                f_s[0][i][j][k] = in[6][i][j][k];
                f_eu[0][i][j][k] = in[7][i][j][k];
                f_ed[0][i][j][k] = in[8][i][j][k];
                f_wu[0][i][j][k] = in[9][i][j][k];
                f_wd[0][i][j][k] = in[10][i][j][k];
                f_nu[0][i][j][k] = in[11][i][j][k];
                f_nd[0][i][j][k] = in[12][i][j][k];
                f_ne[0][i][j][k] = in[13][i][j][k];
                f_nw[0][i][j][k] = in[14][i][j][k];
                f_su[0][i][j][k] = in[15][i][j][k];
                f_sd[0][i][j][k] = in[16][i][j][k];
                f_se[0][i][j][k] = in[17][i][j][k];
                f_sw[0][i][j][k] = in[18][i][j][k];
            }
    for (int t = 1; t <= T; t++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    if (i == 0 || i == N - 1 || j == 0 || j == N - 1 || k == 0 || k == N - 1) {
                        f_o[t][i][j][k] = f_o[t - 1][i][j][k];
                        f_u[t][i][j][k] = f_u[t - 1][i][j][k];
                        f_d[t][i][j][k] = f_d[t - 1][i][j][k];
                        f_e[t][i][j][k] = f_e[t - 1][i][j][k];
                        f_w[t][i][j][k] = f_w[t - 1][i][j][k];
                        f_n[t][i][j][k] = f_n[t - 1][i][j][k];
                        f_s[t][i][j][k] = f_s[t - 1][i][j][k];
                        f_eu[t][i][j][k] = f_eu[t - 1][i][j][k];
                        f_ed[t][i][j][k] = f_ed[t - 1][i][j][k];
                        f_wu[t][i][j][k] = f_wu[t - 1][i][j][k];
                        f_wd[t][i][j][k] = f_wd[t - 1][i][j][k];
                        f_nu[t][i][j][k] = f_nu[t - 1][i][j][k];
                        f_nd[t][i][j][k] = f_nd[t - 1][i][j][k];
                        f_ne[t][i][j][k] = f_ne[t - 1][i][j][k];
                        f_nw[t][i][j][k] = f_nw[t - 1][i][j][k];
                        f_su[t][i][j][k] = f_su[t - 1][i][j][k];
                        f_sd[t][i][j][k] = f_sd[t - 1][i][j][k];
                        f_se[t][i][j][k] = f_se[t - 1][i][j][k];
                        f_sw[t][i][j][k] = f_sw[t - 1][i][j][k];
                    } else {
                        o = f_o[t - 1][i][j][k];
                        u = f_u[t - 1][i][j][k - 1];
                        d = f_d[t - 1][i][j][k + 1];
                        e = f_e[t - 1][i][j - 1][k];
                        w = f_w[t - 1][i][j + 1][k];
                        n = f_n[t - 1][i - 1][j][k];
                        s = f_s[t - 1][i + 1][j][k];
                        eu = f_eu[t - 1][i][j - 1][k - 1];
                        ed = f_ed[t - 1][i][j - 1][k + 1];
                        wu = f_wu[t - 1][i][j + 1][k - 1];
                        wd = f_wd[t - 1][i][j + 1][k + 1];
                        nu = f_nu[t - 1][i - 1][j][k - 1];
                        nd = f_nd[t - 1][i - 1][j][k + 1];
                        ne = f_ne[t - 1][i - 1][j - 1][k];
                        nw = f_nw[t - 1][i - 1][j + 1][k];
                        su = f_su[t - 1][i + 1][j][k - 1];
                        sd = f_sd[t - 1][i + 1][j][k + 1];
                        se = f_se[t - 1][i + 1][j - 1][k];
                        sw = f_sw[t - 1][i + 1][j + 1][k];
                        rho = o + u + d + e + w + n + s + eu + ed + wu + wd + nu + nd + ne + nw + su + sd +
                              se + sw;
                        ux = (n + nu + nd + ne + nw - s - su - sd - se - sw) / rho;
                        uy = (e + eu + ed + ne + se - w - wu - wd - nw - sw) / rho;
                        uz = (u + eu + wu + nu + su - d - ed - wd - nd - sd) / rho;
                        uu = ux * ux + uy * uy + uz * uz;
                        f_o[t][i][j][k] = relax(omega, 1.0 / 3, rho, o, 0, uu);
                        f_u[t][i][j][k] = relax(omega, 1.0 / 18, rho, u, uz, uu);
                        f_d[t][i][j][k] = relax(omega, 1.0 / 18, rho, d, -uz, uu);
                        f_e[t][i][j][k] = relax(omega, 1.0 / 18, rho, e, uy, uu);
                        f_w[t][i][j][k] = relax(omega, 1.0 / 18, rho, w, -uy, uu);
                        f_n[t][i][j][k] = relax(omega, 1.0 / 18, rho, n, ux, uu);
                        f_s[t][i][j][k] = relax(omega, 1.0 / 18, rho, s, -ux, uu);
                        f_eu[t][i][j][k] = relax(omega, 1.0 / 36, rho, eu, uy + uz, uu);
                        f_ed[t][i][j][k] = relax(omega, 1.0 / 36, rho, ed, uy - uz, uu);
                        f_wu[t][i][j][k] = relax(omega, 1.0 / 36, rho, wu, uz - uy, uu);
                        f_wd[t][i][j][k] = relax(omega, 1.0 / 36, rho, wd, -uy - uz, uu);
                        f_nu[t][i][j][k] = relax(omega, 1.0 / 36, rho, nu, ux + uz, uu);
                        f_nd[t][i][j][k] = relax(omega, 1.0 / 36, rho, nd, ux - uz, uu);
                        f_ne[t][i][j][k] = relax(omega, 1.0 / 36, rho, ne, ux + uy, uu);
                        f_nw[t][i][j][k] = relax(omega, 1.0 / 36, rho, nw, ux - uy, uu);
                        f_su[t][i][j][k] = relax(omega, 1.0 / 36, rho, su, uz - ux, uu);
                        f_sd[t][i][j][k] = relax(omega, 1.0 / 36, rho, sd, -ux - uz, uu);
                        f_se[t][i][j][k] = relax(omega, 1.0 / 36, rho, se, uy - ux, uu);
                        f_sw[t][i][j][k] = relax(omega, 1.0 / 36, rho, sw, -ux - uy, uu);
                    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) {
                out[0][i][j][k] = f_o[T][i][j][k];
                out[1][i][j][k] = f_u[T][i][j][k];
                out[2][i][j][k] = f_d[T][i][j][k];
                out[3][i][j][k] = f_e[T][i][j][k];
                out[4][i][j][k] = f_w[T][i][j][k];
                out[5][i][j][k] = f_n[T][i][j][k];
                out[6][i][j][k] = f_s[T][i][j][k];
                out[7][i][j][k] = f_eu[T][i][j][k];
                out[8][i][j][k] = f_ed[T][i][j][k];
                out[9][i][j][k] = f_wu[T][i][j][k];
                out[10][i][j][k] = f_wd[T][i][j][k];
                out[11][i][j][k] = f_nu[T][i][j][k];
                out[12][i][j][k] = f_nd[T][i][j][k];
                out[13][i][j][k] = f_ne[T][i][j][k];
                out[14][i][j][k] = f_nw[T][i][j][k];
                out[15][i][j][k] = f_su[T][i][j][k];
                out[16][i][j][k] = f_sd[T][i][j][k];
                out[17][i][j][k] = f_se[T][i][j][k];
                out[18][i][j][k] = f_sw[T][i][j][k];
            }
#pragma endscop
}
