/* Edges in a colour picture: grey values, Sobel filters with clamped borders, length of the gradient. */
#include <math.h>
#include <stdlib.h>

void edges(int h, int w, const float in[restrict h][w][3], float out[restrict h][w])
{
    float (*grey)[w] = malloc(sizeof(float[h][w]));
    float (*gx)[w] = malloc(sizeof(float[h][w])), (*gy)[w] = malloc(sizeof(float[h][w]));
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            grey[y][x] = 0.299f * in[y][x][0] + 0.587f * in[y][x][1] + 0.114f * in[y][x][2];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int l = x > 0 ? x - 1 : 0, r = x < w - 1 ? x + 1 : w - 1;
            int u = y > 0 ? y - 1 : 0, d = y < h - 1 ? y + 1 : h - 1;
            gx[y][x] = grey[u][r] - grey[u][l] + 2 * (grey[y][r] - grey[y][l]) + grey[d][r] - grey[d][l];
            gy[y][x] = grey[d][l] - grey[u][l] + 2 * (grey[d][x] - grey[u][x]) + grey[d][r] - grey[u][r];
        }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            out[y][x] = sqrtf(gx[y][x] * gx[y][x] + gy[y][x] * gy[y][x]);
#pragma endscop
    free(grey);
    free(gx);
    free(gy);
}
