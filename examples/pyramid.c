/* One level of an image pyramid: rows are halved into half, two rows of half give a row of the level.
   half is temporary: while its second row is made its first is used up, so W + 1 cells are live at once. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

typedef unsigned char byte;

void pyramid(int H, int W, const byte in[restrict 2 * H][2 * W], byte out[restrict H][W])
{
    int half[2 * H][W];

#pragma scop
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++)
            half[2 * y][x] = in[2 * y][2 * x] + in[2 * y][2 * x + 1];
        for (int x = 0; x < W; x++) {
            half[2 * y + 1][x] = in[2 * y + 1][2 * x] + in[2 * y + 1][2 * x + 1];
            out[y][x] = (byte)((half[2 * y][x] + half[2 * y + 1][x] + 2) / 4);
        }
    }
#pragma endscop
}
