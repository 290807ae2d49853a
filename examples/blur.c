/* Two-stage blur as two separate loop nests. BBC16 Fig. 4(a).
   blurx is temporary. As written all of it is live between the nests; once the nests are fused by
   rows, one row is enough; cell by cell, three cells are. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void blur(int N, const double in[restrict N + 2][N], double out[restrict N][N])
{
    int x, y;
    double blurx[N][N];

#pragma scop
    for (x = 0; x < N; x++)
        for (y = 0; y < N; y++)
            blurx[x][y] = (in[x][y] + in[x + 1][y] + in[x + 2][y]) / 3.0;

    for (x = 0; x < N; x++)
        for (y = 2; y < N; y++)
            out[x][y] = (blurx[x][y] + blurx[x][y - 1] + blurx[x][y - 2]) / 3.0;
#pragma endscop
}
