/* Names need not be ASCII. */
void unicode_iterator(int N, double A[N])
{
#pragma scop
    for (int größe = 1; größe < N; größe++)
        A[größe] = A[größe - 1];
#pragma endscop
}
