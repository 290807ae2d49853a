void f(int N, int M, double A[N][N], double B[N])
{
  for (int i = 0; i < N; i++) {
#pragma scop
    if (B[i] > 0)
      break;
    B[i] = 1;
#pragma endscop
  }
}
