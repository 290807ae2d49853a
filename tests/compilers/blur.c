#include <stdio.h>
#include <stdlib.h>
#define N 1024
static double in[N][N], out[N][N];
void blur(double in[N][N], double out[N][N]) {
  double (*t)[N] = malloc(sizeof(double)*N*N);
  for (int y = 0; y < N; y++)
    for (int x = 0; x < N; x++) {
      t[y][x] = in[y][x] * 0.5;
      if (y >= 2) out[y][x] = t[y-2][x] + t[y-1][x] + t[y][x];
    }
  free(t);
}
int main(void) {
  for (int y = 0; y < N; y++) for (int x = 0; x < N; x++) in[y][x] = (y*7+x*3)%11;
  blur(in, out);
  double s = 0; for (int y = 0; y < N; y++) for (int x = 0; x < N; x++) s += out[y][x]*((x+y)%5);
  printf("%.3f\n", s); return 0;
}
