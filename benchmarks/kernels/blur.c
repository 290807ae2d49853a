/* Two-stage blur, the stages interleaved row by row. BBC16 Fig. 4(b), with a product where the example
   divides, so that memory is what counts.
   blurx is temporary. A row of out needs three rows of it: 2 N + 1 cells are live at once. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void blur_interleaved(int N, const float in[restrict N][N + 2], float out[restrict N][N])
{
    float blurx[N][N];

#pragma scop
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            blurx[y][x] = (in[y][x] + in[y][x + 1] + in[y][x + 2]) * (1.0f / 3);
            if (y >= 2)
                out[y][x] = (blurx[y][x] + blurx[y - 1][x] + blurx[y - 2][x]) * (1.0f / 3);
        }
#pragma endscop
}
