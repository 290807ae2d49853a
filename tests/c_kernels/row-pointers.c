/* Pointers to rows: of two arrays, before a loop and inside, moved by a row each time, clamped at an edge. */
void row_pointers(int w, int h, long stride, const float *restrict in, float *restrict out)
{
    float t[h * w];
    const float *last = in + (h - 1) * stride;
#pragma scop
    for (int y = 0; y < h; y++) {
        const float *row = in + y * stride;
        float *to = &t[y * w];
        for (int x = 0; x < w; x++)
            to[x] = row[x] + last[x];
    }
    for (int y = 0; y < h; y++) {
        const float *up = y > 0 ? &t[(y - 1) * w] : t;
        float *dst;
        dst = out;
        dst += y * w;
        for (int x = 0; x < w; x++)
            *(dst + x) = up[x] + (t + y * w)[x];
    }
#pragma endscop
}
