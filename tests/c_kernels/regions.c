/* Regions around parts of functions, several in one function, one inside loops, one that is left out. */
#include <math.h>

void twice(int N, double A[N])
{
    A[0] = 1;
#pragma scop
    for (int i = 1; i < N; i++)
        A[i] = A[i - 1];
#pragma endscop
    for (int i = 0; i < N; i++)
        A[i] *= 2;
#pragma scop
    for (int i = N - 1; i >= 0; i--)
        A[i] += 1;
#pragma endscop
}

#if 0
void unfinished(int N, double A[N])
{
#pragma scop
    while (A[0]) goto isn't;
#pragma endscop
}
#endif

int relax(int N, double (*restrict A)[N], double eps)
{
    int t = 0;
    double change = 2 * eps;
    while (change > eps) {
        change = 0;
#pragma scop
        for (int i = 1; i < N - 1; i++) {
            A[1][i] = (A[0][i - 1] + A[0][i + 1]) / 2;
            change = fmax(change, fabs(A[1][i] - A[0][i]));
        }
        for (int i = 1; i < N - 1; i++)
            A[0][i] = A[1][i];
#pragma endscop
        t++;
    }
    return t;
}

void steps(int T, int N, double W[T][N])
{
    int i;
    for (int t = 1; t < T; t++) {
#pragma scop
        for (i = 1; i < N; i++)
            W[t][i] = W[t - 1][i - 1];
#pragma endscop
    }
}
