void f(int N, int M, double A[N][N], double B[N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    B[i] = ({ double t = 1; t += i; t; });
#pragma endscop
}
