/* The second half of a time step follows the first one by a row. */
void heat(int t, int n, double a[restrict n][n], double b[restrict n][n])
{
    for (int k = 0; k < t; k++)
        for (int i = 1; i < n; i++) {
            if (i < n - 1)
                for (int j = 1; j < n - 1; j++)
                    b[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
            if (i > 1)
                for (int j = 1; j < n - 1; j++)
                    a[i - 1][j] = 0.2 * (b[i - 1][j] + b[i - 2][j] + b[i][j] + b[i - 1][j - 1] + b[i - 1][j + 1]);
        }
}
