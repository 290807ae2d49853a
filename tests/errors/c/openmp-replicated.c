void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
#pragma omp parallel
  {
    B[0] = 1;
  }
#pragma endscop
}
