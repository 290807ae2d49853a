void f(int n, const int b[n], float a[n])
{
#pragma scop
#pragma omp parallel for
    for (int i = 0; i < b[0]; i++)
        a[i] = 0;
#pragma endscop
}
