/* The pragma as an operator, as macros write it. */
#define PARALLEL _Pragma("omp parallel for")
void openmp_operator(int N, double A[N], double B[N])
{
#pragma scop
    _Pragma("omp parallel for")
    for (int i = 0; i < N; i++)
        A[i] = 1;
    PARALLEL
    for (int i = 0; i < N; i++)
        B[i] = A[i];
#pragma endscop
}
