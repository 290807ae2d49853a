struct grid { double *data; };
void f(int N, int M, struct grid *g)
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      g[i].data[j] = 1;
#pragma endscop
}
