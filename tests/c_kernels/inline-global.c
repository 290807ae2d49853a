/* A bound from a function that looks at a global variable which the region does not name. */
int rows;

static inline int last(void) { return rows - 1; }

void inline_global(double a[100])
{
#pragma scop
    for (int i = 0; i <= last(); i++)
        a[i] = 0;
#pragma endscop
}
