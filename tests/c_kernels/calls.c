/* Library functions, a function of the user, casts, and parameters that are data. */
#include <math.h>

double norm;

static double square(double x)
{
    return x * x;
}

void calls(int n, int step, float alpha, const float x[n], double y[n])
{
#pragma scop
    norm = 0;
    for (int i = 0; i < n; i++) {
        y[i] = (double) x[i] * exp(-square((double) x[i]));
        norm += pow(fabs(y[i]), 2.0);
    }
    norm = sqrt(norm / n);
    for (int i = 0; i < n; i++)
        y[i] = (float) (alpha * y[i]) / norm + (double) i / step + n;
#pragma endscop
}
