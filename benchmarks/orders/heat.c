/* Heat equation on a square plate: time steps from one array to the other and back. */
void heat(int t, int n, double a[restrict n][n], double b[restrict n][n])
{
#pragma scop
    for (int k = 0; k < t; k++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = 0.2 * (b[i][j] + b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]);
    }
#pragma endscop
}
