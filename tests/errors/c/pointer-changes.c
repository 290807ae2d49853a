void f(int N, int M, double A[N][N], double B[N])
{
  double *p = B;
#pragma scop
  for (int i = 0; i < N; i++)
    p = p + i;
#pragma endscop
}
