/* A grid with a border and a band: ifs with &&, ||, !, else and chains of else if. */
void conditions(int N, int M, double u[N][N], const double f[N][N], double v[N][N], double w[N][N])
{
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            if (i == 0 || j == 0 || i == N - 1 || j == N - 1)
                u[i][j] = 0;
            else if (i > j && !(i - j > M))
                u[i][j] = f[i][j] - 1;
            else if (!(i < j)) {
                u[i][j] = f[i][j];
                v[i][j] = 2;
            } else
                v[i][j] = u[i][j];
            if (i != j)
                w[i][j] = 1;
            if (M)
                w[i][j] += 1;
            if (i < M) {
            } else
                w[i][j] -= f[j][i];
        }
#pragma endscop
}
