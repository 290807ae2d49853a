/* Planes one after the other, rows of half the width: sizes that are products and quotients. */
void planes(int w, int h, const float *in, float *out, float *restrict small)
{
    const int plane = w * h, half = w / 2;
    float t[3 * plane], u[h * half];
#pragma scop
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < plane; i++)
            t[c * plane + i] = in[c * plane + i];
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < plane; i++)
            out[c * plane + i] = t[c * plane + i];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < half; x++)
            u[y * half + x] = in[y * w + 2 * x];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < half; x++)
            small[y * half + x] = u[y * half + x];
#pragma endscop
}
