/* memset to zero and memcpy as loops; a compound literal; do ... while (0). */
#include <string.h>

struct pair
{
    float a, b;
};

void filled(int n, const float in[restrict n], float out[restrict n])
{
    float acc[4][8], row[n], last[n];
    struct pair t[n];
#pragma scop
    for (int y = 0; y < n; y++) {
        memset(acc, 0, sizeof acc);
        memset(acc[1], 0, sizeof(float) * 8);
        memcpy(row, in, n * sizeof *row);
        (void) memset(last, 0, sizeof(last));
        do {
            t[y] = (struct pair){row[y], last[y]};
            acc[y % 4][0] += t[y].a;
        } while (0);
        out[y] = acc[y % 4][0] + t[y].b;
    }
#pragma endscop
}
