void f(int n, float **t, float *q)
{
#pragma scop
    for (int i = 0; i < n; i++)
        t[i] = q;
#pragma endscop
}
