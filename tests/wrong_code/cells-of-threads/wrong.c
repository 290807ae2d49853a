void k(int n, const double in[restrict 2 * n], double out[restrict 2 * n], double last[restrict 2])
{
    /* assumed: n >= 1 (line 1: extent of in) */
    /* t[j] -> [j mod 4]: 4 cells instead of 2*n, proved minimal for n >= 2 */
    double t[4] = {0};
#pragma omp parallel for
    for (int c2 = 0; c2 <= 1; c2++) {
      {
        const int c3_begin = 0;
        const int c3_end = n;
        long long t_first = ((long long)c2 + 2LL * c3_begin) % 4;
        if (t_first < 0) t_first += 4;
        double t_next_0 = t[t_first];
        double t_next_1 = t[(t_first + 1) % 4];
        double t_next_2 = t[(t_first + 2) % 4];
        double t_next_3 = t[(t_first + 3) % 4];
        const long long c3_count = c3_end > c3_begin ? (long long)c3_end - c3_begin : 0;
        for (int c3 = c3_begin; c3 < c3_end; c3++) {
          t_next_0 = in[2 * c3 + c2];
          if (c3 >= 1)
            out[2 * c3 + c2] = t_next_0 + t_next_2;
          const double t_next_0_kept = t_next_0;
          t_next_0 = t_next_2;
          t_next_2 = t_next_0_kept;
          const double t_next_1_kept = t_next_1;
          t_next_1 = t_next_3;
          t_next_3 = t_next_1_kept;
        }
        t_first = (t_first + 2 * c3_count) % 4;
        t[t_first] = t_next_0;
        t[(t_first + 1) % 4] = t_next_1;
        t[(t_first + 2) % 4] = t_next_2;
        t[(t_first + 3) % 4] = t_next_3;
      }
    }
    {
      const int c1_begin = 0;
      const int c1_end = 2;
      long long t_first = ((long long)c1_begin + 2LL * n - 2) % 4;
      if (t_first < 0) t_first += 4;
      double t_next_0 = t[t_first];
      double t_next_1 = t[(t_first + 1) % 4];
      double t_next_2 = t[(t_first + 2) % 4];
      double t_next_3 = t[(t_first + 3) % 4];
      const long long c1_count = c1_end > c1_begin ? (long long)c1_end - c1_begin : 0;
#pragma GCC ivdep
      for (int c1 = c1_begin; c1 < c1_end; c1++) {
        last[c1] = t_next_0;
        const double t_next_0_kept = t_next_0;
        t_next_0 = t_next_1;
        t_next_1 = t_next_2;
        t_next_2 = t_next_3;
        t_next_3 = t_next_0_kept;
      }
      t_first = (t_first + c1_count) % 4;
      t[t_first] = t_next_0;
      t[(t_first + 1) % 4] = t_next_1;
      t[(t_first + 2) % 4] = t_next_2;
      t[(t_first + 3) % 4] = t_next_3;
    }
}
