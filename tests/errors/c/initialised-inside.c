void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  double tmp[2] = {1, 2};
  B[0] = tmp[1];
#pragma endscop
}
