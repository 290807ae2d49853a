/* A table whose last row and last column are summed up afterwards. BBC16 Fig. 2.
   A is temporary: 2 N - 1 cells are read at the end, and no more are live at any time before. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void produce_consume(int N, const double row[restrict N], const double column[restrict N],
                     double result[restrict 1])
{
    double A[N][N];

#pragma scop
    for (int t = 0; t < N; t++)
        for (int i = 0; i < N; i++) {
            if (t == 0)
                A[t][i] = row[i];
            else if (i == 0)
                A[t][i] = column[t];
            else
                A[t][i] = 0.5 * (A[t][i - 1] + A[t - 1][i]);
        }

    result[0] = 0;
    for (int i = 0; i < N; i++)
        result[0] += A[i][N - 1] + A[N - 1][i];
#pragma endscop
}
