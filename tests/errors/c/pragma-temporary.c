void f(int N, int M, double A[N][N], double B[N])
{
#pragma arrayfold temporary(C)
#pragma scop
  B[0] = 1;
#pragma endscop
}
