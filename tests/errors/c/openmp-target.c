void f(int n, float a[n])
{
#pragma scop
#pragma omp target
    for (int i = 0; i < n; i++)
        a[i] = 0;
#pragma endscop
}
