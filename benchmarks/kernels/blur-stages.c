/* Two-stage blur, one stage after the other; the rows of a stage may run in parallel. blurx is temporary, and all of
   it is live between the stages. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void blur(int N, const float in[restrict N][N + 2], float out[restrict N][N])
{
    float blurx[N][N];

#pragma scop
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            blurx[y][x] = (in[y][x] + in[y][x + 1] + in[y][x + 2]) * (1.0f / 3);

    for (int y = 2; y < N; y++)
        for (int x = 0; x < N; x++)
            out[y][x] = (blurx[y][x] + blurx[y - 1][x] + blurx[y - 2][x]) * (1.0f / 3);
#pragma endscop
}
