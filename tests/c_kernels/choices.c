/* Conditions inside expressions: on data, on iterators, mixed, and short circuits. */
void choices(int n, double a[n], double b[n], double c[n], int k[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        a[i] = b[i] > 0 ? b[i] : c[i];
        a[i] += i > 0 ? a[i - 1] : 0;
        c[i] = (i == 0 || i == n - 1) ? 0 : (b[i - 1] + b[i + 1]) / 2;
        k[i] = i > 0 && b[i - 1] > 0;
        k[i] += i < 1 || b[i - 1] < c[i];
        k[i] = b[i] > 0 && c[i] > 0;
        a[i] = i % 2 ? b[i] : c[i];
        a[i] = i + 1 < n && b[i + 1] > 0 ? c[i + 1] : b[i];
    }
#pragma endscop
}
