/* Enumeration constants as sizes, bounds and subscripts; a global array. */
enum { X, Y, Z, DIMS };
enum size { PAD = 2, WIDTH = 1 << 4 };
double p[WIDTH + 2 * PAD][DIMS];

void enums(const double v[][DIMS])
{
#pragma scop
    for (int i = PAD; i < WIDTH + PAD; i++) {
        p[i][X] += v[i - PAD][X];
        p[i][Z] = p[i][X] * p[i - PAD][Y];
    }
    for (int d = X; d < DIMS; d++)
        p[0][d] = p[WIDTH + 2 * PAD - 1][DIMS - 1 - d];
#pragma endscop
}
