/* Steps that are constant expressions: a macro, a product of macros, an enum constant, a shift. */
#define TILE 4
enum { WIDE = 2 * TILE };
void constant_step(int N, double a[N])
{
    int i;
#pragma scop
    for (i = 0; i < N; i += TILE)
        a[i] = 0;
    for (i = 0; i < N; i += 2 * TILE)
        a[i] += 1;
    for (i = N - 1; i >= 0; i -= (TILE - 1))
        a[i] += 2;
    for (i = 0; i < N; i = i + WIDE)
        a[i] += 3;
#pragma endscop
}
