void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  for (int i = 0; i < N; i++) {
#pragma omp ordered
    B[i] = 1;
  }
#pragma endscop
}
