void f(int N, int q, int A[N][8])
{
#pragma scop
  for (int i = 0; i < N; i++) {
    q = 0;
    if (A[i][0] > 3)
      q = 1;
    A[i][q] = 1;
  }
#pragma endscop
}
