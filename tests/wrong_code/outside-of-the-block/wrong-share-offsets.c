#include <stdlib.h>

void f(int N, double out[N][N])
{
  double *memory = malloc(sizeof(double[(((long long)N * N) > 1 ? ((long long)N * N) : 1)]));
  if (!memory)
    abort();
  /* A[i, j] -> [i mod (N - 5), (-j) mod N]: N^2 - 5*N cells instead of N^2, proved minimal */
  double (*A)[N] = (void *)(memory + 0);
  /* B[i] -> [i mod N]: N cells instead of N, proved minimal */
  double *B = (void *)(memory + ((long long)N * N - 5LL * N));
  /* C[i, j] -> [i mod N, j mod N]: N^2 cells instead of N^2, proved minimal */
  double (*C)[N] = (void *)(memory + 0);
  for (int c1 = 5; c1 < N; c1++) {
#pragma GCC ivdep
    for (int c2 = 0; c2 < N; c2++)
      A[c1 - 5][(N - 1) - c2] = c1 + c2;
  }
#pragma GCC ivdep
  for (int c1 = 0; c1 < N; c1++)
    B[c1] = c1;
  for (int c1 = 0; c1 < N; c1++) {
#pragma GCC ivdep
    for (int c2 = 0; c2 < N; c2++)
      out[c1][c2] = B[(N - 1 - c1)] + B[c2];
  }
  for (int c1 = 5; c1 < N; c1++) {
#pragma GCC ivdep
    for (int c2 = 0; c2 < N; c2++)
      out[c1][c2] += A[c1 - 5][(N - 1) - (N - 1 - c2)];
  }
  for (int c1 = 0; c1 < N; c1++) {
#pragma GCC ivdep
    for (int c2 = 0; c2 < N; c2++)
      C[c1][c2] = out[c1][c2];
  }
  for (int c1 = 0; c1 < N; c1++) {
#pragma GCC ivdep
    for (int c2 = 0; c2 < N; c2++)
      out[c1][c2] += C[c2][c1];
  }
  free(memory);
}
