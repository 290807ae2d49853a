/* Division and remainder by a constant that depends on a parameter. */
void chosen_divisor(int n, int wide, double a[n], double b[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i / (wide ? 2 : 4)] = i;
    for (int i = 0; i < n; i++)
        b[i % (wide > 0 ? 3 : 5)] = i;
#pragma endscop
}
