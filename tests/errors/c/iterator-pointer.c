void f(int n, float *a, float *out)
{
#pragma scop
    for (float *p = a; p < a + n; p++)
        *out += *p;
#pragma endscop
}
