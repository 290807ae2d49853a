void f(int N, int M, double A[N][N], double B[N])
{
  int index[3] = {0, 1, 2};
#pragma scop
  for (int i = 0; i < 3; i++)
    A[index[i]][0] = 1;
#pragma endscop
}
