void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
again:
  B[0] = 1;
  goto again;
#pragma endscop
}
