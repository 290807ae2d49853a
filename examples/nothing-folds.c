/* Transposes a matrix through a copy and adds up how its diagonal changed since the call before.
   No array may shrink. copy is temporary but live in full between the nests. diagonal is declared in the
   function too, but it is static: the next call reads it. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define SIZE 16

double transpose(double A[SIZE][SIZE])
{
    static double diagonal[SIZE];
    double copy[SIZE][SIZE];
    double change;

#pragma scop
    change = 0;
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            copy[i][j] = A[i][j];

    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j < SIZE; j++)
            A[i][j] = copy[j][i];
        change += A[i][i] - diagonal[i];
        diagonal[i] = A[i][i];
    }
#pragma endscop

    return change;
}
