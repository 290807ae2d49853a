/* G = (A B) (C D) by three matrix products.
   E = A B and F = C D are temporary. As written both are live in full; once the first and the last nest are
   fused by rows, one row of E is enough. F cannot shrink: each row of G reads all of it. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

typedef double real;

void three_mm(int N, const real A[restrict N][N], const real B[restrict N][N], const real C[restrict N][N],
              const real D[restrict N][N], real G[restrict N][N])
{
    real E[N][N], F[N][N];

#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                if (k == 0)
                    E[i][j] = A[i][k] * B[k][j];
                else
                    E[i][j] += A[i][k] * B[k][j];

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            F[i][j] = 0;
            for (int k = 0; k < N; k++)
                F[i][j] += C[i][k] * D[k][j];
        }

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            G[i][j] = 0;
            for (int k = 0; k < N; k++)
                G[i][j] += E[i][k] * F[k][j];
        }
#pragma endscop
}
