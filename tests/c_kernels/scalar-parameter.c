/* Parameters of the function that the region changes, and a variable array on the stack with a static one. */
double scalar_parameter(int N, double alpha, int count, const double x[restrict static N])
{
    double scaled[N];
    static double last[3];
#pragma scop
    for (int i = 0; i < N; i++) {
        scaled[i] = alpha * x[i];
        alpha = -alpha;
        count += 2;
    }
    last[2] = scaled[N - 1];
#pragma endscop
    return last[2] + count;
}
