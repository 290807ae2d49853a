/* Functions that work on arrays: whole ones, rows, pointers into them; results, early returns, own arrays. */
static void rows(int w, const float a[w], float b[w])
{
    if (w < 2)
        return;
    for (int x = 0; x < w - 1; x++)
        b[x] = a[x] + a[x + 1];
}

static float sum(const float *p, int count)
{
    float s = 0;
    for (int k = 0; k < count; k++)
        s += p[k];
    return s;
}

static float at(const float *p, int i)
{
    return p[i];
}

static void bounds(float v, float *lo, float *hi)
{
    *lo = v < *lo ? v : *lo;
    if (v > *hi)
        *hi = v;
}

static void copy(const float *from, float *to, int count)
{
    while (--count >= 0)
        to[count] = from[count];
}

void inlined_calls(int h, int w, const float in[restrict h][w], float out[restrict h][w])
{
    float t[h][w], first[w], line[w], lo = 0, hi = 0;
#pragma scop
    for (int y = 0; y < h; y++) {
        rows(w, in[y], t[y]);
        const float s = sum(t[y], w - 1);
        for (int x = 0; x < w; x++)
            first[x] = x < w - 1 ? t[y][x] : 0;
        copy(first, line, w - 1);
        for (int x = 0; x < w - 1; x++) {
            bounds(line[x], &lo, &hi);
            out[y][x] = at(t[y], x) / s + line[x];
        }
    }
    out[0][0] = hi - lo;
#pragma endscop
}
