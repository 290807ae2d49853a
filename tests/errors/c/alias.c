void f(int N, int M, double A[N][N], double B[N])
{
  double *p = M > 3 ? B : A[0];
#pragma scop
  for (int i = 0; i < N; i++)
    p[i] = 1;
#pragma endscop
}
