/* Time steps: two and three buffers that change places, and a number that says which half is the current one. */
#include <stdlib.h>

int heat(int n, int steps, double *restrict u)
{
    double *other = malloc(n * sizeof *other);
    if (other == NULL)
        return 1;
    double *cur = u, *next = other;
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            next[i] = cur[i] / 2;
        double *tmp = cur;
        cur = next;
        next = tmp;
    }
    if (cur != u)
        for (int i = 0; i < n; i++)
            u[i] = cur[i];
#pragma endscop
    free(other);
    return 0;
}

double wave(int n, int steps, double *restrict p, double *restrict q, double *restrict r)
{
    double *spare;
#pragma scop
    while (steps-- > 0) {
        for (int i = 1; i < n; i++)
            r[i] = q[i - 1] - p[i];
        spare = p;
        p = q, q = r, r = spare;
    }
#pragma endscop
    return q[0];
}

void halves(int n, int steps, float *restrict u)
{
    float a[2][n];
    int cur = 1;
#pragma scop
    for (int i = 0; i < n; i++)
        a[cur][i] = u[i];
    for (int t = 1; t <= steps; t++) {
        for (int i = 0; i < n; i++)
            a[1 - cur][i] = a[cur][i] + t;
        cur ^= 1;
    }
    for (int i = 0; i < n; i++)
        u[i] = a[cur][i];
#pragma endscop
}
