/* Heat in a rod by two arrays in turn: B is the next step, then it is copied back. N cells each.
   Both are temporary. fold --mode reallocate --share cells puts them into one memory of N + 1 cells. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void heat_1d(int T, int N, const double in[restrict N], double out[restrict N])
{
    double A[N], B[N];

#pragma scop
    for (int i = 0; i < N; i++)
        A[i] = in[i];

    for (int t = 0; t < T; t++) {
        B[0] = A[0];
        for (int i = 1; i < N - 1; i++)
            B[i] = 0.125 * A[i - 1] + 0.75 * A[i] + 0.125 * A[i + 1];
        B[N - 1] = A[N - 1];
        for (int i = 0; i < N; i++)
            A[i] = B[i];
    }

    for (int i = 0; i < N; i++)
        out[i] = A[i];
#pragma endscop
}
