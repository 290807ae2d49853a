#include <stdlib.h>

void f(int N, double out[N][N])
{
  double *memory = malloc(sizeof(double[(((long long)N * N) > 1 ? ((long long)N * N) : 1)]));
  if (!memory)
    abort();
  /* A_S_0[i, j] -> [(i - 5) mod (N - 5), (-j) mod N]: N^2 - 5*N cells for values of A, proved minimal */
  double (*A_S_0)[N] = (void *)(memory + 0);
  /* B_S_1[i] -> [i mod N]: N cells for values of B, proved minimal */
  double *B_S_1 = (void *)(memory + ((long long)N * N - 5LL * N));
  /* C_S_4[i, j] -> [i mod N, j mod N]: N^2 cells for values of C, proved minimal */
  double (*C_S_4)[N] = (void *)(memory + 0);
  for (int c1 = 5; c1 < N; c1++) {
#pragma GCC ivdep
    for (int c2 = 0; c2 < N; c2++)
      A_S_0[(c1 - 5)][(N - c2 - 1)] = c1 + c2;
  }
#pragma GCC ivdep
  for (int c1 = 0; c1 < N; c1++)
    B_S_1[c1] = c1;
  for (int c1 = 0; c1 < N; c1++) {
#pragma GCC ivdep
    for (int c2 = 0; c2 < N; c2++)
      out[c1][c2] = B_S_1[(N - c1 - 1)] + B_S_1[c2];
  }
  for (int c1 = 5; c1 < N; c1++) {
#pragma GCC ivdep
    for (int c2 = 0; c2 < N; c2++)
      out[c1][c2] += A_S_0[(c1 - 5)][c2];
  }
  for (int c1 = 0; c1 < N; c1++) {
#pragma GCC ivdep
    for (int c2 = 0; c2 < N; c2++)
      C_S_4[c1][c2] = out[c1][c2];
  }
  for (int c1 = 0; c1 < N; c1++) {
#pragma GCC ivdep
    for (int c2 = 0; c2 < N; c2++)
      out[c1][c2] += C_S_4[c2][c1];
  }
  free(memory);
}
