void f(int n, float a[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = _Generic(a[i], float: 1, default: 2);
#pragma endscop
}
