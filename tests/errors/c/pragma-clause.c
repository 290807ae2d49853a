void f(int N, int M, double A[N][N], double B[N])
{
#pragma arrayfold temporal(B)
#pragma scop
  B[0] = 1;
#pragma endscop
}
