/* A loop without a condition that a break ends. */
void endless(int n, const double x[restrict n + 3], double out[restrict n + 3])
{
    double t[n + 3];
#pragma scop
    for (int i = 0;; i++) {
        t[i] = x[i];
        if (i >= n)
            break;
        out[i] = t[i] + 1;
    }
#pragma endscop
}
