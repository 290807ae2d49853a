void k(int n, const double in[restrict n], double out[restrict n])
{
    double row[3];
    /* assumed: n >= 1 (line 1: extent of in) */
#pragma omp parallel for
    for (int c0 = 0; c0 < n; c0++) {
      row[(0)] = in[c0] * (0);
      row[(1)] = in[c0] * (1);
      row[(2)] = in[c0] * (2);
      out[c0] = row[1] + row[2];
    }
}
