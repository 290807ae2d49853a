void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    B[i++] = 1;
#pragma endscop
}
