void f(int N, int M, double A[N][N], double B[N])
{
  struct grid { double *data; } g = {B};
#pragma scop
  for (int i = 0; i < N; i++)
    g.data[i] = 1;
#pragma endscop
}
