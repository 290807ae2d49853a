/* Two-stage blur in bands of TILE rows, which run in parallel, inside a band row by row. blurx is temporary; each band
   computes the two rows above its own again. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define TILE 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void blur(int N, const float in[restrict N][N + 2], float out[restrict N][N])
{
    float blurx[N][N];

#pragma scop
#pragma omp parallel for
    for (int ty = 0; ty < N; ty += TILE)
        for (int y = MAX(ty - 2, 0); y <= MIN(ty + TILE - 1, N - 1); y++)
            for (int x = 0; x < N; x++) {
                blurx[y][x] = (in[y][x] + in[y][x + 1] + in[y][x + 2]) * (1.0f / 3);
                if (y >= ty && y >= 2)
                    out[y][x] = (blurx[y][x] + blurx[y - 1][x] + blurx[y - 2][x]) * (1.0f / 3);
            }
#pragma endscop
}
