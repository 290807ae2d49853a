/* Longest common subsequence of two texts, and the best local alignment of two sequences. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#include <stdlib.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))

int lcs_length(int n, int m, const char *a, const char *b)
{
    int table[n + 1][m + 1];
    int length;

#pragma scop
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0)
                table[i][j] = 0;
            else if (a[i - 1] == b[j - 1])
                table[i][j] = table[i - 1][j - 1] + 1;
            else
                table[i][j] = MAX(table[i - 1][j], table[i][j - 1]);
        }
    }
    length = table[n][m];
#pragma endscop
    return length;
}

int smith_waterman(int n, int m, const char *a, const char *b, int match, int mismatch, int gap)
{
    int score[n + 1][m + 1];
    int best = 0;

#pragma scop
    for (int i = 0; i <= n; i++)
        score[i][0] = 0;
    for (int j = 1; j <= m; j++)
        score[0][j] = 0;
    for (int i = 1; i <= n; i++) {
        for (int j = 1; j <= m; j++) {
            int diagonal;
            if (a[i - 1] == b[j - 1])
                diagonal = score[i - 1][j - 1] + match;
            else
                diagonal = score[i - 1][j - 1] + mismatch;
            int up = score[i - 1][j] + gap;
            int left = score[i][j - 1] + gap;
            int here = MAX(MAX(diagonal, up), left);
            if (here < 0)
                here = 0;
            score[i][j] = here;
            if (here > best)
                best = here;
        }
    }
#pragma endscop
    return best;
}
