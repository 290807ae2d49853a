/* A convolution layer: no dimension to four, constant and variable extents, offsets, a reversed subscript. */
#define K 3
double total;

void dimensions(int N, int C, double out[N][C][16][16], const double in[N][18][18], const double w[C][K][K],
                const double bias[C])
{
#pragma scop
    total = 0;
    for (int n = 0; n < N; n++)
        for (int c = 0; c < C; c++)
            for (int y = 0; y < 16; y++)
                for (int x = 0; x < 16; x++) {
                    out[n][c][y][x] = bias[c];
                    for (int p = 0; p < K; p++)
                        for (int q = 0; q < K; q++)
                            out[n][c][y][x] += in[n][y + p][x + q] * w[c][p][K - 1 - q];
                    total += out[n][c][y][x];
                }
#pragma endscop
}
