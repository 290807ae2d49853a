void k(const int in[restrict 256], int out[restrict 256])
{
    /* t[j] -> []: 1 cell instead of 256, proved minimal */
    int t;
#pragma scop
    for (int j = 0; j < 256; j++)
        t = in[j];
    out[0] = t;
    for (unsigned char i = 0; i != 16; i += 65)
        out[i] = t + 1;
#pragma endscop
}
