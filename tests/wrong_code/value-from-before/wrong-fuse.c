void k(int n, const double in[restrict n], double out[restrict n + 1])
{
    double s = 5;
    /* assumed: n >= 1 (line 1: extent of in) */
#pragma GCC ivdep
    for (int c1 = 0; c1 < n; c1++) {
      s = in[c1];
      out[c1] = s;
    }
    out[n] = s;
}
