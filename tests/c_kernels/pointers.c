/* Pointers to rows, typedefs of elements and of rows, plain pointers, an image in one dimension. */
#define WIDTH 16
typedef double real;
typedef real row[8];
typedef real *vector;

void pointers(int N, real (*A)[N], real *restrict v, row *R, real B[][8], const real *const u, vector image)
{
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = v[j] * u[i];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 8; j++)
            R[i][j] = B[i + 1][7 - j];
    for (int y = 1; y < N; y++)
        for (int x = 0; x < WIDTH; x++)
            image[y * WIDTH + x] += image[(y - 1) * WIDTH + x];
    v[0] = 3[u];
#pragma endscop
}
