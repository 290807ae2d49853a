void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  B[0] = 1;
#pragma scop
#pragma endscop
}
