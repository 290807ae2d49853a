/* One row, its left neighbour and the diagonal one in registers. */
#include <stdlib.h>

int smith_waterman(int n, int m, const int x[restrict n + 1], const int y[restrict m + 1])
{
    int *restrict row = malloc(sizeof(int) * (m + 1)), best = 0;
    for (int j = 0; j <= m; j++)
        row[j] = 0;
    for (int i = 1; i <= n; i++) {
        int left = 0, diagonal = 0;
        const int letter = x[i];
        for (int j = 1; j <= m; j++) {
            const int up = row[j];
            int score = diagonal + (letter == y[j] ? 2 : -1);
            if (up - 1 > score) score = up - 1;
            if (left - 1 > score) score = left - 1;
            if (score < 0) score = 0;
            row[j] = left = score;
            diagonal = up;
            if (score > best) best = score;
        }
    }
    free(row);
    return best;
}
