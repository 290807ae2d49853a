/* Two variables in one header, one of them counting down; a third that is counted along in the body. */
void reversed_pairs(int n, const double x[restrict n], double out[restrict n], double every[restrict 2 * n + 1])
{
    int i, j, k;
    double t[n];
#pragma scop
    for (i = 0, j = n - 1; i < n; i++, j--) {
        t[i] = x[j];
        if (i > j)
            continue;
        out[j] = t[i] - x[i];
    }
    k = 1;
    for (i = 0; i < n; i++) {
        every[k] = out[i];
        k += 2;
    }
#pragma endscop
}
