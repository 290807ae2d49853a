void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
#pragma omp parallel
  for (int t = 0; t < M; t++) {
#pragma omp for nowait
    for (int i = 0; i < N; i++)
      A[t][i] = 1;
  }
#pragma endscop
}
