void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  for (int i = 1; i < N; i *= 2)
    B[i] = 1;
#pragma endscop
}
