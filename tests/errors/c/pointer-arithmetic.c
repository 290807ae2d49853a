void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    B[&B[i] - B] = 1;
#pragma endscop
}
