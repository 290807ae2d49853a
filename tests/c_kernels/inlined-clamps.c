/* Elements read and written by functions that clamp, with several calls in one expression. */
static int clamp(int v, int high)
{
    if (v < 0)
        return 0;
    return v > high ? high : v;
}

static float at(int w, int h, const float *p, int x, int y)
{
    x = clamp(x, w - 1);
    y = clamp(y, h - 1);
    return p[y * w + x];
}

static void put(int w, float *p, int x, int y, float value)
{
    p[y * w + x] = value;
}

void blur(int w, int h, const float *in, float *out)
{
    float t[w * h];
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            put(w, t, x, y, at(w, h, in, x - 1, y) + at(w, h, in, x + 1, y));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            out[y * w + x] = at(w, h, t, x, y - 1) + at(w, h, t, x, y + 1);
#pragma endscop
}
