#include <stdio.h>
#include <stdlib.h>
enum { H = 1400, W = 1800 };
static float in[H][W], out[H][W];
static void unsharp(float in[H][W], float out[H][W])
{
    float (*rows)[W] = malloc(sizeof(float[H][W]));
    float (*blurred)[W] = malloc(sizeof(float[H][W]));
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++)
            rows[y][x] = in[y][x] * 0.25f;
        if (y >= 2) {
            for (int x = 0; x < W; x++)
                blurred[y - 1][x] = rows[y - 2][x] + 2 * rows[y - 1][x] + rows[y][x];
            for (int x = 0; x < W; x++)
                out[y - 1][x] = in[y - 1][x] * 2 - blurred[y - 1][x];
        }
    }
    free(rows);
    free(blurred);
}
int main(void)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            in[y][x] = (y * 7 + x * 3) % 11;
    unsharp(in, out);
    double sum = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            sum += out[y][x] * ((x + y) % 5);
    printf("%.6f\n", sum);
}
