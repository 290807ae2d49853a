void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  int i = 0;
  while (i < N)
    B[i++] = 0;
#pragma endscop
}
