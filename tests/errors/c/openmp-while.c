void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
#pragma omp parallel sections
  {
#pragma omp section
    while (B[0] > 1)
      B[0] = B[0] / 2;
#pragma omp section
    A[0][0] = 1;
  }
#pragma endscop
}
