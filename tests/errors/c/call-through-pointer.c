void f(int n, float a[n], float (*g)(float))
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = g(a[i]);
#pragma endscop
}
