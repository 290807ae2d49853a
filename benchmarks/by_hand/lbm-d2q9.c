/* lbm-d2q9.c by hand: N + 2 rows of each direction, on the stack, and tables of pointers to them. A new row of what
   comes from below replaces the old one, which was read before; any other goes to a free row, and the one that was
   read for the last time is free then. The first step reads the input, the last one writes the output. */

#include <string.h>

/* Directions begin in different sets of the cache. */
#define SHIFT 72

static inline double relax(double omega, double weight, double rho, double value, double cu, double uu)
{
    return (1 - omega) * value + omega * weight * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu);
}

/* A row of a step from the nine rows that it reads. */
static void lbm_row(int N, double omega, const double *const from[9], double *const to[9])
{
    const double *f_o = from[0], *f_e = from[1], *f_n = from[2], *f_w = from[3], *f_s = from[4], *f_ne = from[5],
                 *f_nw = from[6], *f_sw = from[7], *f_se = from[8];
    double *g_o = to[0], *g_e = to[1], *g_n = to[2], *g_w = to[3], *g_s = to[4], *g_ne = to[5], *g_nw = to[6],
           *g_sw = to[7], *g_se = to[8];
#pragma GCC ivdep
    for (int j = 1; j < N - 1; j++) {
        const double o = f_o[j], e = f_e[j - 1], n = f_n[j], w = f_w[j + 1], s = f_s[j], ne = f_ne[j - 1],
                     nw = f_nw[j + 1], sw = f_sw[j + 1], se = f_se[j - 1];
        const double rho = o + e + n + w + s + ne + nw + sw + se;
        const double ux = (e + ne + se - w - nw - sw) / rho;
        const double uy = (n + ne + nw - s - sw - se) / rho;
        const double uu = ux * ux + uy * uy;
        g_o[j] = relax(omega, 4.0 / 9, rho, o, 0, uu);
        g_e[j] = relax(omega, 1.0 / 9, rho, e, ux, uu);
        g_n[j] = relax(omega, 1.0 / 9, rho, n, uy, uu);
        g_w[j] = relax(omega, 1.0 / 9, rho, w, -ux, uu);
        g_s[j] = relax(omega, 1.0 / 9, rho, s, -uy, uu);
        g_ne[j] = relax(omega, 1.0 / 36, rho, ne, ux + uy, uu);
        g_nw[j] = relax(omega, 1.0 / 36, rho, nw, uy - ux, uu);
        g_sw[j] = relax(omega, 1.0 / 36, rho, sw, -ux - uy, uu);
        g_se[j] = relax(omega, 1.0 / 36, rho, se, ux - uy, uu);
    }
}

void lbm_d2q9(int T, int N, double omega, const double in[restrict 9][N][N], double out[restrict 9][N][N])
{
    /* The row that a direction reads, relative to the one that is written. */
    static const int offset[9] = {0, 0, -1, 0, 1, -1, -1, 1, 1};
    const long pitch = (N + 7) / 8 * 8 + 8, plane = (N + 2) * pitch + SHIFT;
    double memory[9 * plane] __attribute__((aligned(64))), *rows[9][N], *spare[9], *next[9], *above[9];
    if (T == 0 || N < 3) {
        memcpy(out, in, sizeof(double[9][N][N]));
        return;
    }
    for (int d = 0; d < 9; d++) {
        spare[d] = memory + d * plane + 7;
        next[d] = spare[d] + pitch;
        for (int i = 0; i < N; i++)
            rows[d][i] = next[d] + (i + 1) * pitch;
        for (int i = 0; i < N; i += N - 1) {
            memcpy(rows[d][i], in[d][i], N * sizeof(double));
            memcpy(out[d][i], in[d][i], N * sizeof(double));
        }
    }
    for (int t = 1; t <= T; t++) {
        for (int d = 0; d < 9; d++)
            above[d] = rows[d][0];
        for (int i = 1; i < N - 1; i++) {
            const double *from[9];
            double *to[9];
            for (int d = 0; d < 9; d++) {
                double *mine = rows[d][i];
                from[d] = offset[d] > 0 ? rows[d][i + 1] : offset[d] < 0 ? above[d] : mine;
                to[d] = mine;
                if (t > 1 && offset[d] <= 0) {
                    to[d] = rows[d][i] = spare[d];
                    spare[d] = offset[d] == 0 ? mine : i == 1 ? next[d] : above[d];
                    above[d] = mine;
                }
                if (t == 1)
                    from[d] = in[d][i + offset[d]];
                if (t == T)
                    to[d] = out[d][i];
                const double *border = t == 1 ? in[d][i] : mine;
                to[d][0] = border[0];
                to[d][N - 1] = border[N - 1];
            }
            lbm_row(N, omega, from, to);
        }
        for (int d = 0; d < 9; d++)
            if (t > 1 && offset[d] < 0)
                next[d] = above[d];
    }
}
