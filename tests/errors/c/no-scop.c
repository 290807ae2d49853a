void f(int N, int M, double A[N][N], double B[N])
{
  B[0] = 1;
}
