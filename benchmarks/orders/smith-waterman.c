/* Score of the best local alignment of two sequences. */
#include <stdlib.h>

int smith_waterman(int n, int m, const int x[restrict n + 1], const int y[restrict m + 1])
{
    int (*s)[m + 1] = malloc(sizeof(int[n + 1][m + 1]));
    int best = 0;
#pragma scop
    for (int i = 0; i <= n; i++)
        s[i][0] = 0;
    for (int j = 0; j <= m; j++)
        s[0][j] = 0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int score = s[i - 1][j - 1] + (x[i] == y[j] ? 2 : -1);
            if (s[i - 1][j] - 1 > score) score = s[i - 1][j] - 1;
            if (s[i][j - 1] - 1 > score) score = s[i][j - 1] - 1;
            if (score < 0) score = 0;
            s[i][j] = score;
            if (score > best) best = score;
        }
#pragma endscop
    free(s);
    return best;
}
