void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  for (int i = 0; i < B[0]; i++)
    A[i][0] = 1;
#pragma endscop
}
