void f(int N, int M, double A[N][N], double B[N])
{
  int n = N;
#pragma scop
  n = n - 1;
  for (int i = 0; i < n; i++)
    B[i] = 1;
#pragma endscop
}
