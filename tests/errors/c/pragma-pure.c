double g(double x);

#pragma arrayfold pure(g, h)
void f(int N, double A[N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    A[i] = g(A[i]);
#pragma endscop
}
