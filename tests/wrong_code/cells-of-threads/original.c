void k(int n, const double in[restrict 2 * n], double out[restrict 2 * n], double last[restrict 2])
{
    double t[2 * n];
#pragma scop
#pragma omp parallel for
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < n; i++) {
            t[2 * i + j] = in[2 * i + j];
            if (i >= 1)
                out[2 * i + j] = t[2 * i + j] + t[2 * i - 2 + j];
        }
    for (int j = 0; j < 2; j++)
        last[j] = t[2 * n - 2 + j];
#pragma endscop
}
