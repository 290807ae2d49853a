/* Iterators that are read behind their loops, and set before them. */
void tail(int n, const double x[restrict n + 4], double out[restrict n + 4])
{
    int i, k;
    double t[n + 4];
#pragma scop
    k = 0;
    for (i = 0; i + 3 < n; i += 4)
        for (k = i; k < i + 4; k++) {
            t[k] = x[k];
            out[k] = 2 * t[k];
        }
    for (; i < n; i++) {
        t[i] = x[i];
        out[i] = 2 * t[i];
    }
    out[i] = t[i - 1] * k;
    for (i = 0; i < n; i++)
        if (i == 5)
            break;
    out[n + 1] = i;
#pragma endscop
}
