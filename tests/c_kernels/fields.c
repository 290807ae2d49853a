/* An image with its sizes in a structure, and constants in another one. */
struct image
{
    int w, h;
    float *data;
};

struct constants
{
    int taps[2];
    struct
    {
        float scale;
    } unit;
};

void fields(const struct image *in, struct image *out, struct constants c)
{
    float t[in->h][in->w];
#pragma scop
    for (int y = 0; y < in->h; y++) {
        for (int x = 0; x < (*in).w; x++)
            t[y][x] = in->data[y * in->w + x] * c.unit.scale;
        for (int x = c.taps[1]; x < in->w; x++)
            out->data[y * in->w + x] = t[y][x] + t[y][x - c.taps[1]];
    }
#pragma endscop
}
