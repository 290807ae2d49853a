/* Two-stage blur in square tiles, inside a tile column by column. BBC16 Fig. 5.
   blurx is temporary. A row of tiles leaves two cells of every column to the next, and one column of a tile
   is worked on at a time: 2 N + TILE cells are live at once. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define TILE 64
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void blur_tiled(int N, const float in[restrict N + 2][N], float out[restrict N][N])
{
    float blurx[N][N];

#pragma scop
    for (int ty = 0; ty < N; ty += TILE)
        for (int tx = 0; tx < N; tx += TILE)
            for (int x = tx; x < MIN(tx + TILE, N); x++) {
                for (int y = ty; y < MIN(ty + TILE, N); y++)
                    blurx[x][y] = in[x][y] + in[x + 1][y] + in[x + 2][y];
                for (int y = MAX(ty, 2); y < MIN(ty + TILE, N); y++)
                    out[x][y] = (blurx[x][y] + blurx[x][y - 1] + blurx[x][y - 2]) / 9.0f;
            }
#pragma endscop
}
