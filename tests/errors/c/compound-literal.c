void f(int n, int a[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = (int[]){1, 2}[i % 2];
#pragma endscop
}
