#include <stdio.h>
#include <stdlib.h>
enum { N = 2000, M = 4 };
static double a[N][M], b[M][N], c[N][M], d[N][M];
int main(void)
{
    double (*t)[N] = malloc(sizeof(double[N][N]));
    for (int i = 0; i < N; i++)
        for (int k = 0; k < M; k++) {
            a[i][k] = (i * 3 + k) % 7;
            b[k][i] = (i + k * 5) % 9;
            c[i][k] = (i * k) % 4;
        }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            t[i][j] = 0;
            for (int k = 0; k < M; k++)
                t[i][j] += a[i][k] * b[k][j];
        }
        for (int j = 0; j < M; j++)
            for (int k = 0; k < N; k++)
                d[i][j] += t[i][k] * c[k][j];
    }
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            sum += d[i][j] * ((i + j) % 3);
    printf("%.6f\n", sum);
    free(t);
}
