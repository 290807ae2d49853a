/* Each row of an image is smoothed through one buffer for a row.
   row is temporary, and already small. But its cells are written again for every row of the image, so rows cannot
   be handled in another order, or at the same time: fold --mode reallocate gives their values places of their own
   and makes such orders legal. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void row_buffer(int H, int W, const float in[restrict H][W], float out[restrict H][W])
{
    float row[W];

#pragma scop
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++)
            row[x] = 0.5f * in[y][x];
        for (int x = 0; x < W; x++)
            out[y][x] = x > 0 ? row[x] + row[x - 1] : row[x];
    }
#pragma endscop
}
