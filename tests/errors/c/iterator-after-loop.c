void f(int N, int M, double A[N][N], double B[N])
{
  int i;
#pragma scop
  for (i = 0; i < N; i++)
    B[i] = 1;
  B[0] = i;
#pragma endscop
}
