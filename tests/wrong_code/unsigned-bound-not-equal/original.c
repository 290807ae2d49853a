void k(const int in[restrict 256], int out[restrict 256])
{
    int t[256];
#pragma scop
    for (int j = 0; j < 256; j++)
        t[j] = in[j];
    out[0] = t[255];
    for (unsigned char i = 0; i != 16; i += 65)
        out[i] = t[i] + 1;
#pragma endscop
}
