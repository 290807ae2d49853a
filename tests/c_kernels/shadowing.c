/* The same names for different things: a global and a local scalar, two iterators, an iterator and a parameter. */
double t;

void shadowing(int N, double A[N], double B[N])
{
    int i;
#pragma scop
    t = 0;
    for (int i = 0; i < N; i++) {
        double t = A[i];
        for (int i = 0; i < 3; i++)
            t += B[i];
        A[i] = t;
    }
    for (i = 0; i < N; i++)
        t += A[i];
    for (int N = 0; N < 4; N++)
        B[N] = 1;
    for (int A = 0; A < N; A++)
        B[A] += 1;
#pragma endscop
}
