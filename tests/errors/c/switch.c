void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  switch (N) {
  case 1:
    B[0] = 1;
  }
#pragma endscop
}
