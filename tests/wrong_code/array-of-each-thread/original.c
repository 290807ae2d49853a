void k(int n, const double in[restrict n], double out[restrict n])
{
    double row[3];
#pragma scop
#pragma omp parallel for private(row)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 3; j++)
            row[j] = in[i] * j;
        out[i] = row[1] + row[2];
    }
#pragma endscop
}
