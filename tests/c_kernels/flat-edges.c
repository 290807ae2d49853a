/* What is one column beside the first or the last one of a row is the end or the start of another row. */
void flat_edges(int w, int h, float *restrict a, float *restrict b)
{
#pragma scop
    for (int y = 1; y < h - 1; y++)
        for (int x = 0; x < w; x++)
            b[y * w + x] = a[(y - 1) * w + x + 1] + a[y * w + x - 1] + a[w + y * w + x];
    for (int x = 0; x < w; x++)
        a[x] = b[h * w - w + x];
#pragma endscop
}
