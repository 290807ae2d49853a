/* T steps of a lattice Boltzmann method in space with nineteen directions, pull model, one array a direction; the
   border is fixed. The program behind LBM D3Q19 of BBC16 Table II, as it is written for speed. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

static inline double relax(double omega, double weight, double rho, double value, double cu, double uu)
{
    return (1 - omega) * value + omega * weight * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu);
}

void lbm_d3q19(int T, int N, double omega, const double in[restrict 19][N][N][N],
               double out[restrict 19][N][N][N])
{
    double f_mmz[T + 1][N][N][N];
    double f_mzm[T + 1][N][N][N];
    double f_mzz[T + 1][N][N][N];
    double f_mzp[T + 1][N][N][N];
    double f_mpz[T + 1][N][N][N];
    double f_zmm[T + 1][N][N][N];
    double f_zmz[T + 1][N][N][N];
    double f_zmp[T + 1][N][N][N];
    double f_zzm[T + 1][N][N][N];
    double f_zzz[T + 1][N][N][N];
    double f_zzp[T + 1][N][N][N];
    double f_zpm[T + 1][N][N][N];
    double f_zpz[T + 1][N][N][N];
    double f_zpp[T + 1][N][N][N];
    double f_pmz[T + 1][N][N][N];
    double f_pzm[T + 1][N][N][N];
    double f_pzz[T + 1][N][N][N];
    double f_pzp[T + 1][N][N][N];
    double f_ppz[T + 1][N][N][N];
    double mmz, mzm, mzz, mzp, mpz, zmm, zmz, zmp, zzm, zzz, zzp, zpm, zpz, zpp, pmz, pzm, pzz, pzp, ppz;
    double rho, ux, uy, uz, uu;

#pragma scop
#pragma arrayfold context(N >= 4 and T >= 1)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) {
                f_mmz[0][i][j][k] = in[0][i][j][k];
                f_mzm[0][i][j][k] = in[1][i][j][k];
                f_mzz[0][i][j][k] = in[2][i][j][k];
                f_mzp[0][i][j][k] = in[3][i][j][k];
                f_mpz[0][i][j][k] = in[4][i][j][k];
                f_zmm[0][i][j][k] = in[5][i][j][k];
                f_zmz[0][i][j][k] = in[6][i][j][k];
                f_zmp[0][i][j][k] = in[7][i][j][k];
                f_zzm[0][i][j][k] = in[8][i][j][k];
                f_zzz[0][i][j][k] = in[9][i][j][k];
                f_zzp[0][i][j][k] = in[10][i][j][k];
                f_zpm[0][i][j][k] = in[11][i][j][k];
                f_zpz[0][i][j][k] = in[12][i][j][k];
                f_zpp[0][i][j][k] = in[13][i][j][k];
                f_pmz[0][i][j][k] = in[14][i][j][k];
                f_pzm[0][i][j][k] = in[15][i][j][k];
                f_pzz[0][i][j][k] = in[16][i][j][k];
                f_pzp[0][i][j][k] = in[17][i][j][k];
                f_ppz[0][i][j][k] = in[18][i][j][k];
            }
    for (int t = 1; t <= T; t++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    if (i == 0 || i == N - 1 || j == 0 || j == N - 1 || k == 0 || k == N - 1) {
                        f_mmz[t][i][j][k] = f_mmz[t - 1][i][j][k];
                        f_mzm[t][i][j][k] = f_mzm[t - 1][i][j][k];
                        f_mzz[t][i][j][k] = f_mzz[t - 1][i][j][k];
                        f_mzp[t][i][j][k] = f_mzp[t - 1][i][j][k];
                        f_mpz[t][i][j][k] = f_mpz[t - 1][i][j][k];
                        f_zmm[t][i][j][k] = f_zmm[t - 1][i][j][k];
                        f_zmz[t][i][j][k] = f_zmz[t - 1][i][j][k];
                        f_zmp[t][i][j][k] = f_zmp[t - 1][i][j][k];
                        f_zzm[t][i][j][k] = f_zzm[t - 1][i][j][k];
                        f_zzz[t][i][j][k] = f_zzz[t - 1][i][j][k];
                        f_zzp[t][i][j][k] = f_zzp[t - 1][i][j][k];
                        f_zpm[t][i][j][k] = f_zpm[t - 1][i][j][k];
                        f_zpz[t][i][j][k] = f_zpz[t - 1][i][j][k];
                        f_zpp[t][i][j][k] = f_zpp[t - 1][i][j][k];
                        f_pmz[t][i][j][k] = f_pmz[t - 1][i][j][k];
                        f_pzm[t][i][j][k] = f_pzm[t - 1][i][j][k];
                        f_pzz[t][i][j][k] = f_pzz[t - 1][i][j][k];
                        f_pzp[t][i][j][k] = f_pzp[t - 1][i][j][k];
                        f_ppz[t][i][j][k] = f_ppz[t - 1][i][j][k];
                    } else {
                        mmz = f_mmz[t - 1][i + 1][j + 1][k];
                        mzm = f_mzm[t - 1][i + 1][j][k + 1];
                        mzz = f_mzz[t - 1][i + 1][j][k];
                        mzp = f_mzp[t - 1][i + 1][j][k - 1];
                        mpz = f_mpz[t - 1][i + 1][j - 1][k];
                        zmm = f_zmm[t - 1][i][j + 1][k + 1];
                        zmz = f_zmz[t - 1][i][j + 1][k];
                        zmp = f_zmp[t - 1][i][j + 1][k - 1];
                        zzm = f_zzm[t - 1][i][j][k + 1];
                        zzz = f_zzz[t - 1][i][j][k];
                        zzp = f_zzp[t - 1][i][j][k - 1];
                        zpm = f_zpm[t - 1][i][j - 1][k + 1];
                        zpz = f_zpz[t - 1][i][j - 1][k];
                        zpp = f_zpp[t - 1][i][j - 1][k - 1];
                        pmz = f_pmz[t - 1][i - 1][j + 1][k];
                        pzm = f_pzm[t - 1][i - 1][j][k + 1];
                        pzz = f_pzz[t - 1][i - 1][j][k];
                        pzp = f_pzp[t - 1][i - 1][j][k - 1];
                        ppz = f_ppz[t - 1][i - 1][j - 1][k];
                        rho = mmz + mzm + mzz + mzp + mpz + zmm + zmz + zmp + zzm + zzz + zzp + zpm + zpz + zpp + pmz + pzm + pzz + pzp + ppz;
                        ux = (-mmz - mzm - mzz - mzp - mpz + pmz + pzm + pzz + pzp + ppz) / rho;
                        uy = (-mmz + mpz - zmm - zmz - zmp + zpm + zpz + zpp - pmz + ppz) / rho;
                        uz = (-mzm + mzp - zmm + zmp - zzm + zzp - zpm + zpp - pzm + pzp) / rho;
                        uu = ux * ux + uy * uy + uz * uz;
                        f_mmz[t][i][j][k] = relax(omega, 1.0 / 36, rho, mmz, -ux - uy, uu);
                        f_mzm[t][i][j][k] = relax(omega, 1.0 / 36, rho, mzm, -ux - uz, uu);
                        f_mzz[t][i][j][k] = relax(omega, 1.0 / 18, rho, mzz, -ux, uu);
                        f_mzp[t][i][j][k] = relax(omega, 1.0 / 36, rho, mzp, -ux + uz, uu);
                        f_mpz[t][i][j][k] = relax(omega, 1.0 / 36, rho, mpz, -ux + uy, uu);
                        f_zmm[t][i][j][k] = relax(omega, 1.0 / 36, rho, zmm, -uy - uz, uu);
                        f_zmz[t][i][j][k] = relax(omega, 1.0 / 18, rho, zmz, -uy, uu);
                        f_zmp[t][i][j][k] = relax(omega, 1.0 / 36, rho, zmp, -uy + uz, uu);
                        f_zzm[t][i][j][k] = relax(omega, 1.0 / 18, rho, zzm, -uz, uu);
                        f_zzz[t][i][j][k] = relax(omega, 1.0 / 3, rho, zzz, 0, uu);
                        f_zzp[t][i][j][k] = relax(omega, 1.0 / 18, rho, zzp, uz, uu);
                        f_zpm[t][i][j][k] = relax(omega, 1.0 / 36, rho, zpm, uy - uz, uu);
                        f_zpz[t][i][j][k] = relax(omega, 1.0 / 18, rho, zpz, uy, uu);
                        f_zpp[t][i][j][k] = relax(omega, 1.0 / 36, rho, zpp, uy + uz, uu);
                        f_pmz[t][i][j][k] = relax(omega, 1.0 / 36, rho, pmz, ux - uy, uu);
                        f_pzm[t][i][j][k] = relax(omega, 1.0 / 36, rho, pzm, ux - uz, uu);
                        f_pzz[t][i][j][k] = relax(omega, 1.0 / 18, rho, pzz, ux, uu);
                        f_pzp[t][i][j][k] = relax(omega, 1.0 / 36, rho, pzp, ux + uz, uu);
                        f_ppz[t][i][j][k] = relax(omega, 1.0 / 36, rho, ppz, ux + uy, uu);
                    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) {
                out[0][i][j][k] = f_mmz[T][i][j][k];
                out[1][i][j][k] = f_mzm[T][i][j][k];
                out[2][i][j][k] = f_mzz[T][i][j][k];
                out[3][i][j][k] = f_mzp[T][i][j][k];
                out[4][i][j][k] = f_mpz[T][i][j][k];
                out[5][i][j][k] = f_zmm[T][i][j][k];
                out[6][i][j][k] = f_zmz[T][i][j][k];
                out[7][i][j][k] = f_zmp[T][i][j][k];
                out[8][i][j][k] = f_zzm[T][i][j][k];
                out[9][i][j][k] = f_zzz[T][i][j][k];
                out[10][i][j][k] = f_zzp[T][i][j][k];
                out[11][i][j][k] = f_zpm[T][i][j][k];
                out[12][i][j][k] = f_zpz[T][i][j][k];
                out[13][i][j][k] = f_zpp[T][i][j][k];
                out[14][i][j][k] = f_pmz[T][i][j][k];
                out[15][i][j][k] = f_pzm[T][i][j][k];
                out[16][i][j][k] = f_pzz[T][i][j][k];
                out[17][i][j][k] = f_pzp[T][i][j][k];
                out[18][i][j][k] = f_ppz[T][i][j][k];
            }
#pragma endscop
}
