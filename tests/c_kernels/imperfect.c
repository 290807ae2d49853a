/* LU without pivoting: an imperfect nest, a scalar, statements outside any loop. */
double det;

void imperfect(int n, double A[n][n], double result[2])
{
    int i, j, k;
#pragma scop
    det = 1.0;
    for (k = 0; k < n; k++) {
        for (i = k + 1; i < n; i++) {
            A[i][k] /= A[k][k];
            for (j = k + 1; j < n; j++)
                A[i][j] -= A[i][k] * A[k][j];
        }
        det *= A[k][k];
    }
    result[0] = det;
    result[1] = n;
#pragma endscop
}
