/* The value of a polynomial at x by Horner's rule, every intermediate value in a cell of its own.
   DIY16 section 1.1 shows such a chain. value is temporary: one cell is enough. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

double horner(int N, double x, const double coefficient[N])
{
    double value[N];
    double result;

#pragma scop
    value[N - 1] = coefficient[N - 1];
    for (int i = N - 2; i >= 0; --i) {
        value[i] = value[i + 1];
        value[i] *= x;
        value[i] += coefficient[i];
    }
    result = value[0];
#pragma endscop

    return result;
}
