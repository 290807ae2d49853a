void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  for (int i = 0; i < N; i++) {
#pragma omp task
    {
#pragma omp task
      B[i] = 1;
    }
#pragma omp taskwait
  }
#pragma endscop
}
