/* T steps of a lattice Boltzmann method in space with twenty-seven directions, pull model, one array a direction; the
   border is fixed. The program behind LBM D3Q27 of BBC16 Table II, as it is written for speed. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

static inline double relax(double omega, double weight, double rho, double value, double cu, double uu)
{
    return (1 - omega) * value + omega * weight * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu);
}

void lbm_d3q27(int T, int N, double omega, const double in[restrict 27][N][N][N],
               double out[restrict 27][N][N][N])
{
    double f_mmm[T + 1][N][N][N];
    double f_mmz[T + 1][N][N][N];
    double f_mmp[T + 1][N][N][N];
    double f_mzm[T + 1][N][N][N];
    double f_mzz[T + 1][N][N][N];
    double f_mzp[T + 1][N][N][N];
    double f_mpm[T + 1][N][N][N];
    double f_mpz[T + 1][N][N][N];
    double f_mpp[T + 1][N][N][N];
    double f_zmm[T + 1][N][N][N];
    double f_zmz[T + 1][N][N][N];
    double f_zmp[T + 1][N][N][N];
    double f_zzm[T + 1][N][N][N];
    double f_zzz[T + 1][N][N][N];
    double f_zzp[T + 1][N][N][N];
    double f_zpm[T + 1][N][N][N];
    double f_zpz[T + 1][N][N][N];
    double f_zpp[T + 1][N][N][N];
    double f_pmm[T + 1][N][N][N];
    double f_pmz[T + 1][N][N][N];
    double f_pmp[T + 1][N][N][N];
    double f_pzm[T + 1][N][N][N];
    double f_pzz[T + 1][N][N][N];
    double f_pzp[T + 1][N][N][N];
    double f_ppm[T + 1][N][N][N];
    double f_ppz[T + 1][N][N][N];
    double f_ppp[T + 1][N][N][N];
    double mmm, mmz, mmp, mzm, mzz, mzp, mpm, mpz, mpp, zmm, zmz, zmp, zzm, zzz, zzp, zpm, zpz, zpp, pmm, pmz, pmp, pzm, pzz, pzp, ppm, ppz, ppp;
    double rho, ux, uy, uz, uu;

#pragma scop
#pragma arrayfold context(N >= 4 and T >= 1)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) {
                f_mmm[0][i][j][k] = in[0][i][j][k];
                f_mmz[0][i][j][k] = in[1][i][j][k];
                f_mmp[0][i][j][k] = in[2][i][j][k];
                f_mzm[0][i][j][k] = in[3][i][j][k];
                f_mzz[0][i][j][k] = in[4][i][j][k];
                f_mzp[0][i][j][k] = in[5][i][j][k];
                f_mpm[0][i][j][k] = in[6][i][j][k];
                f_mpz[0][i][j][k] = in[7][i][j][k];
                f_mpp[0][i][j][k] = in[8][i][j][k];
                f_zmm[0][i][j][k] = in[9][i][j][k];
                f_zmz[0][i][j][k] = in[10][i][j][k];
                f_zmp[0][i][j][k] = in[11][i][j][k];
                f_zzm[0][i][j][k] = in[12][i][j][k];
                f_zzz[0][i][j][k] = in[13][i][j][k];
                f_zzp[0][i][j][k] = in[14][i][j][k];
                f_zpm[0][i][j][k] = in[15][i][j][k];
                f_zpz[0][i][j][k] = in[16][i][j][k];
                f_zpp[0][i][j][k] = in[17][i][j][k];
                f_pmm[0][i][j][k] = in[18][i][j][k];
                f_pmz[0][i][j][k] = in[19][i][j][k];
                f_pmp[0][i][j][k] = in[20][i][j][k];
                f_pzm[0][i][j][k] = in[21][i][j][k];
                f_pzz[0][i][j][k] = in[22][i][j][k];
                f_pzp[0][i][j][k] = in[23][i][j][k];
                f_ppm[0][i][j][k] = in[24][i][j][k];
                f_ppz[0][i][j][k] = in[25][i][j][k];
                f_ppp[0][i][j][k] = in[26][i][j][k];
            }
    for (int t = 1; t <= T; t++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    if (i == 0 || i == N - 1 || j == 0 || j == N - 1 || k == 0 || k == N - 1) {
                        f_mmm[t][i][j][k] = f_mmm[t - 1][i][j][k];
                        f_mmz[t][i][j][k] = f_mmz[t - 1][i][j][k];
                        f_mmp[t][i][j][k] = f_mmp[t - 1][i][j][k];
                        f_mzm[t][i][j][k] = f_mzm[t - 1][i][j][k];
                        f_mzz[t][i][j][k] = f_mzz[t - 1][i][j][k];
                        f_mzp[t][i][j][k] = f_mzp[t - 1][i][j][k];
                        f_mpm[t][i][j][k] = f_mpm[t - 1][i][j][k];
                        f_mpz[t][i][j][k] = f_mpz[t - 1][i][j][k];
                        f_mpp[t][i][j][k] = f_mpp[t - 1][i][j][k];
                        f_zmm[t][i][j][k] = f_zmm[t - 1][i][j][k];
                        f_zmz[t][i][j][k] = f_zmz[t - 1][i][j][k];
                        f_zmp[t][i][j][k] = f_zmp[t - 1][i][j][k];
                        f_zzm[t][i][j][k] = f_zzm[t - 1][i][j][k];
                        f_zzz[t][i][j][k] = f_zzz[t - 1][i][j][k];
                        f_zzp[t][i][j][k] = f_zzp[t - 1][i][j][k];
                        f_zpm[t][i][j][k] = f_zpm[t - 1][i][j][k];
                        f_zpz[t][i][j][k] = f_zpz[t - 1][i][j][k];
                        f_zpp[t][i][j][k] = f_zpp[t - 1][i][j][k];
                        f_pmm[t][i][j][k] = f_pmm[t - 1][i][j][k];
                        f_pmz[t][i][j][k] = f_pmz[t - 1][i][j][k];
                        f_pmp[t][i][j][k] = f_pmp[t - 1][i][j][k];
                        f_pzm[t][i][j][k] = f_pzm[t - 1][i][j][k];
                        f_pzz[t][i][j][k] = f_pzz[t - 1][i][j][k];
                        f_pzp[t][i][j][k] = f_pzp[t - 1][i][j][k];
                        f_ppm[t][i][j][k] = f_ppm[t - 1][i][j][k];
                        f_ppz[t][i][j][k] = f_ppz[t - 1][i][j][k];
                        f_ppp[t][i][j][k] = f_ppp[t - 1][i][j][k];
                    } else {
                        mmm = f_mmm[t - 1][i + 1][j + 1][k + 1];
                        mmz = f_mmz[t - 1][i + 1][j + 1][k];
                        mmp = f_mmp[t - 1][i + 1][j + 1][k - 1];
                        mzm = f_mzm[t - 1][i + 1][j][k + 1];
                        mzz = f_mzz[t - 1][i + 1][j][k];
                        mzp = f_mzp[t - 1][i + 1][j][k - 1];
                        mpm = f_mpm[t - 1][i + 1][j - 1][k + 1];
                        mpz = f_mpz[t - 1][i + 1][j - 1][k];
                        mpp = f_mpp[t - 1][i + 1][j - 1][k - 1];
                        zmm = f_zmm[t - 1][i][j + 1][k + 1];
                        zmz = f_zmz[t - 1][i][j + 1][k];
                        zmp = f_zmp[t - 1][i][j + 1][k - 1];
                        zzm = f_zzm[t - 1][i][j][k + 1];
                        zzz = f_zzz[t - 1][i][j][k];
                        zzp = f_zzp[t - 1][i][j][k - 1];
                        zpm = f_zpm[t - 1][i][j - 1][k + 1];
                        zpz = f_zpz[t - 1][i][j - 1][k];
                        zpp = f_zpp[t - 1][i][j - 1][k - 1];
                        pmm = f_pmm[t - 1][i - 1][j + 1][k + 1];
                        pmz = f_pmz[t - 1][i - 1][j + 1][k];
                        pmp = f_pmp[t - 1][i - 1][j + 1][k - 1];
                        pzm = f_pzm[t - 1][i - 1][j][k + 1];
                        pzz = f_pzz[t - 1][i - 1][j][k];
                        pzp = f_pzp[t - 1][i - 1][j][k - 1];
                        ppm = f_ppm[t - 1][i - 1][j - 1][k + 1];
                        ppz = f_ppz[t - 1][i - 1][j - 1][k];
                        ppp = f_ppp[t - 1][i - 1][j - 1][k - 1];
                        rho = mmm + mmz + mmp + mzm + mzz + mzp + mpm + mpz + mpp + zmm + zmz + zmp + zzm + zzz + zzp + zpm + zpz + zpp + pmm + pmz + pmp + pzm + pzz + pzp + ppm + ppz + ppp;
                        ux = (-mmm - mmz - mmp - mzm - mzz - mzp - mpm - mpz - mpp + pmm + pmz + pmp + pzm + pzz + pzp + ppm + ppz + ppp) / rho;
                        uy = (-mmm - mmz - mmp + mpm + mpz + mpp - zmm - zmz - zmp + zpm + zpz + zpp - pmm - pmz - pmp + ppm + ppz + ppp) / rho;
                        uz = (-mmm + mmp - mzm + mzp - mpm + mpp - zmm + zmp - zzm + zzp - zpm + zpp - pmm + pmp - pzm + pzp - ppm + ppp) / rho;
                        uu = ux * ux + uy * uy + uz * uz;
                        f_mmm[t][i][j][k] = relax(omega, 1.0 / 216, rho, mmm, -ux - uy - uz, uu);
                        f_mmz[t][i][j][k] = relax(omega, 1.0 / 54, rho, mmz, -ux - uy, uu);
                        f_mmp[t][i][j][k] = relax(omega, 1.0 / 216, rho, mmp, -ux - uy + uz, uu);
                        f_mzm[t][i][j][k] = relax(omega, 1.0 / 54, rho, mzm, -ux - uz, uu);
                        f_mzz[t][i][j][k] = relax(omega, 2.0 / 27, rho, mzz, -ux, uu);
                        f_mzp[t][i][j][k] = relax(omega, 1.0 / 54, rho, mzp, -ux + uz, uu);
                        f_mpm[t][i][j][k] = relax(omega, 1.0 / 216, rho, mpm, -ux + uy - uz, uu);
                        f_mpz[t][i][j][k] = relax(omega, 1.0 / 54, rho, mpz, -ux + uy, uu);
                        f_mpp[t][i][j][k] = relax(omega, 1.0 / 216, rho, mpp, -ux + uy + uz, uu);
                        f_zmm[t][i][j][k] = relax(omega, 1.0 / 54, rho, zmm, -uy - uz, uu);
                        f_zmz[t][i][j][k] = relax(omega, 2.0 / 27, rho, zmz, -uy, uu);
                        f_zmp[t][i][j][k] = relax(omega, 1.0 / 54, rho, zmp, -uy + uz, uu);
                        f_zzm[t][i][j][k] = relax(omega, 2.0 / 27, rho, zzm, -uz, uu);
                        f_zzz[t][i][j][k] = relax(omega, 8.0 / 27, rho, zzz, 0, uu);
                        f_zzp[t][i][j][k] = relax(omega, 2.0 / 27, rho, zzp, uz, uu);
                        f_zpm[t][i][j][k] = relax(omega, 1.0 / 54, rho, zpm, uy - uz, uu);
                        f_zpz[t][i][j][k] = relax(omega, 2.0 / 27, rho, zpz, uy, uu);
                        f_zpp[t][i][j][k] = relax(omega, 1.0 / 54, rho, zpp, uy + uz, uu);
                        f_pmm[t][i][j][k] = relax(omega, 1.0 / 216, rho, pmm, ux - uy - uz, uu);
                        f_pmz[t][i][j][k] = relax(omega, 1.0 / 54, rho, pmz, ux - uy, uu);
                        f_pmp[t][i][j][k] = relax(omega, 1.0 / 216, rho, pmp, ux - uy + uz, uu);
                        f_pzm[t][i][j][k] = relax(omega, 1.0 / 54, rho, pzm, ux - uz, uu);
                        f_pzz[t][i][j][k] = relax(omega, 2.0 / 27, rho, pzz, ux, uu);
                        f_pzp[t][i][j][k] = relax(omega, 1.0 / 54, rho, pzp, ux + uz, uu);
                        f_ppm[t][i][j][k] = relax(omega, 1.0 / 216, rho, ppm, ux + uy - uz, uu);
                        f_ppz[t][i][j][k] = relax(omega, 1.0 / 54, rho, ppz, ux + uy, uu);
                        f_ppp[t][i][j][k] = relax(omega, 1.0 / 216, rho, ppp, ux + uy + uz, uu);
                    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) {
                out[0][i][j][k] = f_mmm[T][i][j][k];
                out[1][i][j][k] = f_mmz[T][i][j][k];
                out[2][i][j][k] = f_mmp[T][i][j][k];
                out[3][i][j][k] = f_mzm[T][i][j][k];
                out[4][i][j][k] = f_mzz[T][i][j][k];
                out[5][i][j][k] = f_mzp[T][i][j][k];
                out[6][i][j][k] = f_mpm[T][i][j][k];
                out[7][i][j][k] = f_mpz[T][i][j][k];
                out[8][i][j][k] = f_mpp[T][i][j][k];
                out[9][i][j][k] = f_zmm[T][i][j][k];
                out[10][i][j][k] = f_zmz[T][i][j][k];
                out[11][i][j][k] = f_zmp[T][i][j][k];
                out[12][i][j][k] = f_zzm[T][i][j][k];
                out[13][i][j][k] = f_zzz[T][i][j][k];
                out[14][i][j][k] = f_zzp[T][i][j][k];
                out[15][i][j][k] = f_zpm[T][i][j][k];
                out[16][i][j][k] = f_zpz[T][i][j][k];
                out[17][i][j][k] = f_zpp[T][i][j][k];
                out[18][i][j][k] = f_pmm[T][i][j][k];
                out[19][i][j][k] = f_pmz[T][i][j][k];
                out[20][i][j][k] = f_pmp[T][i][j][k];
                out[21][i][j][k] = f_pzm[T][i][j][k];
                out[22][i][j][k] = f_pzz[T][i][j][k];
                out[23][i][j][k] = f_pzp[T][i][j][k];
                out[24][i][j][k] = f_ppm[T][i][j][k];
                out[25][i][j][k] = f_ppz[T][i][j][k];
                out[26][i][j][k] = f_ppp[T][i][j][k];
            }
#pragma endscop
}
