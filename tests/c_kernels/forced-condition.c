/* A condition on data that a build option makes always true: its data is read all the same. */
#define FORCE 1

void forced_condition(int n, double a[n], double b[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        if (a[i] > 0 || FORCE)
            b[i] = 0;
#pragma endscop
}
