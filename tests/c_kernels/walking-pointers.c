/* Pointers that walk through arrays: forwards, backwards, two steps at once, and set again for every row. */

void walking(int h, int w, const float *restrict in, float *restrict out, float *restrict ends)
{
    float t[w];

#pragma scop
    for (int y = 0; y < h; y++) {
        const float *from = in + y * w;
        float *to = t;
        for (int x = 0; x < w; x++)
            *to++ = 2 * *from++;
        float *last = out + y * w + w;
        for (int x = 0; x < w; x++)
            *--last = *--to + 1;
        to += w;
        ends[y] = to[-1];
    }
#pragma endscop
}
