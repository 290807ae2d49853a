void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  int i = 0;
  do {
    for (int j = 0; j < i; j++)
      B[j] = 0;
    i++;
  } while (i < N);
#pragma endscop
}
