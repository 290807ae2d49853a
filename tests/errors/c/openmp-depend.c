void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < N; i++) {
#pragma omp task depend(out: B[i % 2])
    B[i] = 1;
  }
#pragma endscop
}
