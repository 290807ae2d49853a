/* Arrays of structures, reached field by field; one with arrays inside; whole elements of a third. */
struct pixel
{
    float r, g;
};

struct scratch
{
    float line[8];
};

void array_of_structures(int n, const struct pixel in[restrict n], const struct pixel whole[n], struct pixel out[restrict n])
{
    struct pixel t[n], u[n];
    struct scratch s;
#pragma scop
    for (int i = 0; i < n; i++) {
        t[i].r = in[i].r / 2;
        t[i].g = in[i].g / 2;
        u[i] = whole[i];
        for (int k = 0; k < 8; k++) {
            s.line[k] = u[i].r * k;
            out[i].r += s.line[k];
        }
        if (i > 0)
            out[i].g = t[i - 1].r + t[i].g;
    }
#pragma endscop
}
