void k(const int in[restrict 256], int out[restrict 256])
{
    /* t[j] -> []: 1 cell instead of 256, proved minimal */
    int t;
#pragma GCC ivdep
    for (int c1 = 0; c1 < 255 + 1; c1++)
      t = in[c1];
    out[0] = t;
}
