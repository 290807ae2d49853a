void k(int lo, int hi, const int in[restrict 64], int out[restrict 64])
{
    int t[64];
#pragma scop
    for (int i = lo; i < hi; i++)
        t[i] = in[i];
    for (int i = lo; i < hi; i++)
        out[i] = t[i] + 1;
#pragma endscop
}
