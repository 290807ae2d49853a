/* D = A B C by two matrix products.
   AB is temporary. As written all of it is live between the nests; once they are fused by rows, one row is
   enough. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void two_mm(int I, int J, int K, int L, const double A[restrict I][K], const double B[restrict K][J],
            const double C[restrict J][L], double D[restrict I][L])
{
    int i, j, k, l;
    double AB[I][J];

#pragma scop
    for (i = 0; i < I; i++)
        for (j = 0; j < J; j++) {
            AB[i][j] = 0.0;
            for (k = 0; k < K; k++)
                AB[i][j] += A[i][k] * B[k][j];
        }

    for (i = 0; i < I; i++)
        for (l = 0; l < L; l++) {
            D[i][l] = 0.0;
            for (j = 0; j < J; j++)
                D[i][l] += AB[i][j] * C[j][l];
        }
#pragma endscop
}
