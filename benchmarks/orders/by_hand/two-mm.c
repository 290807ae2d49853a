/* One row of the product in between; innermost loops along rows. */
#include <stdlib.h>

void two_mm(int ni, int nj, int nk, int nl, const double a[restrict ni][nk], const double b[restrict nk][nj],
            const double c[restrict nj][nl], double d[restrict ni][nl])
{
    double *restrict row = malloc(sizeof(double) * nj);
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++)
            row[j] = 0;
        for (int k = 0; k < nk; k++)
            for (int j = 0; j < nj; j++)
                row[j] += a[i][k] * b[k][j];
        for (int k = 0; k < nj; k++)
            for (int j = 0; j < nl; j++)
                d[i][j] += row[k] * c[k][j];
    }
    free(row);
}
