/* Assignments and increments inside of expressions. */
void packed(int n, const int x[restrict n], int a[restrict n], int last[restrict 3])
{
    int b, k = 0;
    int t[n], u[n];
#pragma scop
    k = 0;
    for (int i = 0; i < n; i++) {
        t[k++] = (b = x[i]) + 1;
        u[i] = b, a[i] = u[i] + t[i];
        if ((b = a[i] - 1) > 3)
            last[0] = b;
        last[1] = -(b += 2), last[2] = b;
    }
#pragma endscop
}
