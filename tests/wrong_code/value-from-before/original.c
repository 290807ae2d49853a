void k(int n, const double in[restrict n], double out[restrict n + 1])
{
    double s = 5;
#pragma scop
#pragma omp parallel for private(s)
    for (int i = 0; i < n; i++) {
        s = in[i];
        out[i] = s;
    }
    out[n] = s;
#pragma endscop
}
