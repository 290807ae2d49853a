/* Cost of the best alignment of three sequences. TVA07 Example 3, Fig. 16.
   A is temporary: a plane i reads only itself and the plane before, and only the last cell is kept.
   J K + K + 1 cells are live at once. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define GAP '-'

/* The cost of starting with gaps only. */
static int border(int i, int j, int k)
{
    return 2 * (i + j + k - 3);
}

/* The cost of aligning three characters. */
static int cost(char x, char y, char z)
{
    return (x != y) + (y != z) + (z != x);
}

static int min(int x, int y)
{
    return x < y ? x : y;
}

void alignment_3d(int I, int J, int K, const char a[restrict I + 1], const char b[restrict J + 1],
                  const char c[restrict K + 1], int best[restrict 1])
{
    int A[I + 1][J + 1][K + 1];

#pragma arrayfold context(I >= 1 and J >= 1 and K >= 1)
#pragma scop
    for (int i = 1; i <= I; i++)
        for (int j = 1; j <= J; j++)
            for (int k = 1; k <= K; k++) {
                if (i == 1 || j == 1 || k == 1)
                    A[i][j][k] = border(i, j, k);
                else
                    A[i][j][k] = min(min(min(A[i - 1][j - 1][k - 1] + cost(a[i], b[j], c[k]),
                                             A[i][j - 1][k - 1] + cost(GAP, b[j], c[k])),
                                         min(A[i - 1][j][k - 1] + cost(a[i], GAP, c[k]),
                                             A[i - 1][j - 1][k] + cost(a[i], b[j], GAP))),
                                     min(A[i - 1][j][k] + cost(a[i], GAP, GAP),
                                         min(A[i][j - 1][k] + cost(GAP, b[j], GAP),
                                             A[i][j][k - 1] + cost(GAP, GAP, c[k]))));
            }
    best[0] = A[I][J][K];
#pragma endscop
}
