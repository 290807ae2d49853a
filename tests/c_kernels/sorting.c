/* Bubble sort: a swap through a local under a condition on data; counters. */
int swaps, tests;

void sorting(long n, double a[n])
{
#pragma scop
    swaps = tests = 0;
    for (long i = 0; i < n - 1; i++)
        for (long j = n - 1; j > i; j--) {
            tests++;
            if (a[j - 1] > a[j]) {
                double t = a[j];
                a[j] = a[j - 1];
                a[j - 1] = t;
                swaps++;
            }
        }
#pragma endscop
}
