void f(int N, int M, double A[N][N], double B[N])
{
  unsigned m = M;
#pragma scop
  for (unsigned i = m; i >= 0; i--)
    B[i] = 1;
#pragma endscop
}
