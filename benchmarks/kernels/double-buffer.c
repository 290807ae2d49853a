/* T steps of a heat equation in a plate with two buffers; the border keeps its temperature. */
void heat(int T, int N, const double a[restrict N][N], double out[restrict N][N]) {
  double u[2][N][N];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      u[0][i][j] = a[i][j];
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        if (i == 0 || j == 0 || i == N - 1 || j == N - 1)
          u[(t + 1) % 2][i][j] = u[t % 2][i][j];
        else
          u[(t + 1) % 2][i][j] = 0.25 * (u[t % 2][i - 1][j] + u[t % 2][i + 1][j] + u[t % 2][i][j - 1] + u[t % 2][i][j + 1]);
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      out[i][j] = u[T % 2][i][j];
#pragma endscop
}
