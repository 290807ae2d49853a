/* Conditions on data around statements, with affine parts, else and chains. */
void decisions(int n, double a[n], double b[n], double limit)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        if (a[i] > limit)
            b[i] = a[i];
        else if (i > 0 && b[i - 1] > 0)
            b[i] = b[i - 1];
        if (i < n / 2 && a[i] < 0) {
            a[i] = 0;
            b[i] += a[i];
        }
        if (i >= 1)
            if (a[i - 1] > a[i]) {
                for (int j = 0; j < i; j++)
                    a[j] -= b[j] > 0 ? b[j] : 1;
            } else
                a[i] = 1;
    }
#pragma endscop
}
