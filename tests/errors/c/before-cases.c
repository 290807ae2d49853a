void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  switch (M) {
    B[0] = 2;
  case 2:
    B[0] = 1;
  }
#pragma endscop
}
