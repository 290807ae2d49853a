/* Loops that count without a for: while, do, a for without start or step, and a condition that counts. */
void counted(int n, const float x[restrict n], float a[restrict n], float b[restrict n], float c[restrict n + 2])
{
    int i = 0, k, left;
    float t[n];
#pragma scop
    i = 0;
    while (i < n) {
        t[i] = x[i];
        i++;
        a[i - 1] = t[i - 1] + 1;
    }
    for (; i > 0; i -= 1)
        b[i - 1] = a[i - 1];
    k = 0;
    do {
        c[k] = b[0];
        k += 2;
    } while (k < n);
    c[k - 1] = 0;
    left = n;
    while (left-- > 0)
        b[left] += c[0];
    for (k = 0; k < n;)
        a[k++] *= 2;
#pragma endscop
}
