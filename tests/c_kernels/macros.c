/* Macros for sizes, types, loops, accesses and a whole statement. */
#define SIZE 10
#define DATA double
#define FOR(i, lo, hi) for (int i = (lo); i < (hi); i++)
#define AT(m, y, x) m[(y)][(x)]
#define IN(y, x) AT(in, (y) + 1, (x) + 1)
#define UPDATE(y, x) AT(out, y, x) = 0.25 * (IN(y - 1, x) + IN(y + 1, x) + IN(y, x - 1) + IN(y, x + 1));
#define SQUARE(e) ((e) * (e))

void macros(DATA in[SIZE + 2][SIZE + 2], DATA out[SIZE][SIZE])
{
#pragma scop
    FOR(y, 0, SIZE)
        FOR(x, 0, SIZE)
            UPDATE(y, x)
    FOR(i, 1, SIZE) {
        AT(out, i, 0) += SQUARE(AT(out, i - 1, 0));
    }
#pragma endscop
}
