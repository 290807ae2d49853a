void f(int n, const float *in, float *out)
{
    const float *p = in;
#pragma scop
    for (int i = 0; i < n; i++) {
        if (out[i] > 0)
            p++;
        out[i] = *p;
    }
#pragma endscop
}
