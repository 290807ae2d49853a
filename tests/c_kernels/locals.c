/* Integers that get a name: they are written, read, and stand for their value in subscripts and bounds. */
void locals(int N, double a[2 * N], double b[2 * N])
{
#pragma scop
    const int half = N / 2;
    for (int i = 0; i < half; i++) {
        int k = 2 * i;
        int l = k + 1, r = N - 1 - i;
        a[k] = b[l];
        if (l < N - 1)
            a[l] = b[r];
        for (int j = k; j < l + 2; j++)
            b[j] += 1;
    }
#pragma endscop
}
