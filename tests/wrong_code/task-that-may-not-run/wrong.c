void f(int N, const int c[restrict N], const double in[restrict N], double out[restrict N], double z[restrict N])
{
    double q[N + 1], r[N];
    /* a[i] -> []: 1 cell instead of N, proved minimal */
    double a;
#pragma scop
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < N; i++) {
#pragma omp task depend(out: q[i])
        a = in[i];
#pragma omp task depend(in: q[i]) depend(out: r[i])
        out[i] = a;
        if (c[i] > 0) {
#pragma omp task depend(in: r[i]) depend(out: q[i+1])
            z[i] = 1.0;
        }
    }
#pragma endscop
}
