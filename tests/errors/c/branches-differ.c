void f(int N, int q, int A[N][8])
{
#pragma scop
  for (int i = 0; i < N; i++) {
    q = 0;
    if (A[i][0] > 3)
      q = 1;
    for (int j = 0; j < q; j++)
      A[i][j] = 1;
  }
#pragma endscop
}
