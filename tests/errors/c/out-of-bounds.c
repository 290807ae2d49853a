void f(int N, int M, double A[N][N], double B[N])
{
  double tmp[10];
#pragma scop
  for (int i = 0; i < 5; i++)
    tmp[i + 10] = 1;
#pragma endscop
}
