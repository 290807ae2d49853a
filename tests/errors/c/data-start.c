void f(int N, int M, double A[N][N], double B[N])
{
  int start[3] = {1, 2, 3};
#pragma scop
  for (int i = start[1]; i < N; i++)
    A[i][0] = 1;
#pragma endscop
}
