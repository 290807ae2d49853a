void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  for (double x = 0; x < N; x += 1)
    B[0] = x;
#pragma endscop
}
