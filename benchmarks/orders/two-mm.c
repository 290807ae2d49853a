/* D = A B C + D. */
#include <stdlib.h>

void two_mm(int ni, int nj, int nk, int nl, const double a[restrict ni][nk], const double b[restrict nk][nj],
            const double c[restrict nj][nl], double d[restrict ni][nl])
{
    double (*tmp)[nj] = malloc(sizeof(double[ni][nj]));
#pragma scop
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++) {
            tmp[i][j] = 0;
            for (int k = 0; k < nk; k++)
                tmp[i][j] += a[i][k] * b[k][j];
        }
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nl; j++)
            for (int k = 0; k < nj; k++)
                d[i][j] += tmp[i][k] * c[k][j];
#pragma endscop
    free(tmp);
}
