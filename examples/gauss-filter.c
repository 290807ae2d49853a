/* Three by three Gauss filter, its two nests fused with a shift of one column. Mor14 Fig. 1.
   tmp is temporary: only the cell just written and the two before it are needed. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void gauss(int M, int N, const int in[restrict N][M], int out[restrict N][M])
{
    int i, j;
    int tmp[N][M];

#pragma scop
    for (i = 1; i < N - 1; i++)
        for (j = 0; j < M; j++) {
            tmp[i][j] = 3 * in[i][j] - in[i - 1][j] - in[i + 1][j];
            if (j >= 2)
                out[i][j - 1] = 3 * tmp[i][j - 1] - tmp[i][j - 2] - tmp[i][j];
        }
#pragma endscop
}
