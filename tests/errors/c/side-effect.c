void f(int n, const int a[n], int b[n])
{
    int t[n];
#pragma scop
    for (int i = 0; i < n; i++) {
        t[i] = a[i] && b[i]++;
        b[i] = t[i];
    }
#pragma endscop
}
