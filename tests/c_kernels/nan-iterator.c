/* An iterator that isl reads as a number which is none. */
void nan_iterator(int N, double A[N])
{
#pragma scop
    for (int i = 0; i < N; i++)
        A[i] = 0;
    for (int nan = 0; nan < N; nan++)
        A[nan] += 1;
#pragma endscop
}
