void f(int N, int M, double A[N][N], double B[N])
{
  for (int i = 0; i < N; i++) {
#pragma scop
    B[i] = 1;
    if (i == 3)
      continue;
    B[i] = 2;
#pragma endscop
  }
}
