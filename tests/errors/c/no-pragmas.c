void blur(int n, const float in[n][n], float out[n][n])
{
    float rows[n][n];
    if (n < 3)
        return;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            rows[y][x] = in[y][x] / 3;
            if (y >= 2)
                out[y][x] = rows[y - 2][x] + rows[y - 1][x] + rows[y][x];
        }
}
