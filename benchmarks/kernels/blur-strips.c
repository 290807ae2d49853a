/* Two-stage blur in strips of columns, in each strip row by row. blurx is temporary and no strip reads what another
   one wrote, so that strips may run in parallel, each with a few rows of its own. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define TILE 512
#define MIN(a, b) ((a) < (b) ? (a) : (b))

void blur_strips(int N, const float in[restrict N][N + 2], float out[restrict N][N])
{
    float blurx[N][N];

#pragma scop
    for (int tx = 0; tx < N; tx += TILE)
        for (int y = 0; y < N; y++) {
            for (int x = tx; x <= MIN(tx + TILE - 1, N - 1); x++)
                blurx[y][x] = (in[y][x] + in[y][x + 1] + in[y][x + 2]) * (1.0f / 3);
            if (y >= 2)
                for (int x = tx; x <= MIN(tx + TILE - 1, N - 1); x++)
                    out[y][x] = (blurx[y][x] + blurx[y - 1][x] + blurx[y - 2][x]) * (1.0f / 3);
        }
#pragma endscop
}
