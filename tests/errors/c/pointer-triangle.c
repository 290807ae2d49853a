void f(int n, const float *in, float *out)
{
    const float *p = in;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            out[i] += *p++;
#pragma endscop
}
