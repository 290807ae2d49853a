/* Subscripts at the border held inside by functions and by conditional expressions. */
static inline int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
#define MIRROR(x, n) ((x) < 0 ? -(x) : (x) >= (n) ? 2 * (n) - 2 - (x) : (x))

void clamped(int N, double out[N], const double in[N], double tmp[N])
{
#pragma scop
    for (int i = 0; i < N; i++)
        tmp[i] = in[clamp(i - 2, 0, N - 1)] + in[clamp(i + 2, 0, N - 1)];
    for (int i = 0; i < N; i++)
        out[i] = tmp[MIRROR(i - 1, N)] + tmp[MIRROR(i + 1, N)];
    out[N > 5 ? 5 : N - 1] = 0;
#pragma endscop
}
