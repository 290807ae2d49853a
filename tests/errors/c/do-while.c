void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  int i = 0;
  do {
    B[i] = 0;
    i++;
  } while (i < N);
#pragma endscop
}
