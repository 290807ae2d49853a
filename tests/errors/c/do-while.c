void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  do
    B[0] = 0;
  while (B[0] > 1);
#pragma endscop
}
