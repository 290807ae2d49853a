/* Scores of the global alignments of a with every prefix of b (Needleman and Wunsch 1970).
   score is temporary: a row reads only the one before, and only the last row is kept. M + 2 cells are live at
   once. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define GAP 2

void needleman_wunsch(int N, int M, const char a[restrict N], const char b[restrict M],
                      int last[restrict M + 1])
{
    int score[N + 1][M + 1];

#pragma scop
    score[0][0] = 0;
    for (int j = 1; j <= M; j++)
        score[0][j] = score[0][j - 1] - GAP;

    for (int i = 1; i <= N; i++) {
        score[i][0] = score[i - 1][0] - GAP;
        for (int j = 1; j <= M; j++)
            score[i][j] = MAX(score[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 1 : -1),
                              MAX(score[i - 1][j], score[i][j - 1]) - GAP);
    }

    for (int j = 0; j <= M; j++)
        last[j] = score[N][j];
#pragma endscop
}
