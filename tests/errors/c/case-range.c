void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  switch (M) {
  case 1 ... 3:
    B[0] = 1;
  }
#pragma endscop
}
