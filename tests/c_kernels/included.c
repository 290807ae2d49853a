/* A part of the region stands in another file. */
void included(int N, double A[N], double B[N])
{
    int i;
#pragma scop
    A[0] = 1;
#include "included.inc"
    B[0] = 2;
#pragma endscop
}
