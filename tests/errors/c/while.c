void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  while (M--)
    B[0] += 1;
#pragma endscop
}
