/* Every operator that assigns, alone and in chains. */
void operators(int n, double a[n], double b[n], float c[n], int k[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        a[i] = b[i] = c[i] = 0.5f;
        a[i] += b[i];
        b[i] -= a[i] * c[i];
        c[i] *= c[i];
        a[i] /= b[i] + 1;
        k[i]++;
        --k[i];
        k[i] %= 7;
        k[i] <<= 1, k[i] |= 3;
        a[i] = b[i] += c[i];
        a[i] -= (b[n - 1 - i] = 2);
    }
#pragma endscop
}
