void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    switch (M) {
    case 1:
      B[i] = 1;
    case 2:
      B[i] += 1;
      break;
    default:
      B[i] = 0;
    }
#pragma endscop
}
