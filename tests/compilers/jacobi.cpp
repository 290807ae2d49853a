#include <cstdio>
constexpr int T = 1500, N = 4000;
static double start[N], result[N];
static void jacobi(const double *start, double *result)
{
    auto u = new double[T][N];
    for (int i = 0; i < N; i++)
        u[0][i] = start[i];
    for (int t = 1; t < T; t++) {
        u[t][0] = u[t - 1][0];
        u[t][N - 1] = u[t - 1][N - 1];
        for (int i = 1; i < N - 1; i++)
            u[t][i] = (u[t - 1][i - 1] + u[t - 1][i] + u[t - 1][i + 1]) * 0.25;
    }
    for (int i = 0; i < N; i++)
        result[i] = u[T - 1][i];
    delete[] u;
}
int main()
{
    for (int i = 0; i < N; i++)
        start[i] = (i * 7) % 11;
    jacobi(start, result);
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += result[i] * (i % 5);
    std::printf("%.6f\n", sum);
}
