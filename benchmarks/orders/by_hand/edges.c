/* Three lines of grey values, a cell more on either side for the clamped border. */
#include <math.h>
#include <stdlib.h>

static void grey_line(int w, const float (*restrict in)[3], float *restrict to)
{
    for (int x = 0; x < w; x++)
        to[x] = 0.299f * in[x][0] + 0.587f * in[x][1] + 0.114f * in[x][2];
    to[-1] = to[0];
    to[w] = to[w - 1];
}

void edges(int h, int w, const float in[restrict h][w][3], float out[restrict h][w])
{
    const size_t pitch = (size_t)w + 2;
    float *lines = malloc(sizeof(float) * 3 * pitch);
    float *up = lines + 1, *here = up, *down = lines + pitch + 1, *spare = lines + 2 * pitch + 1;
    grey_line(w, in[0], here);
    for (int y = 0; y < h; y++) {
        if (y < h - 1)
            grey_line(w, in[y + 1], down);
        else
            down = here;
        float *restrict to = out[y];
        for (int x = 0; x < w; x++) {
            float gx = up[x + 1] - up[x - 1] + 2 * (here[x + 1] - here[x - 1]) + down[x + 1] - down[x - 1];
            float gy = down[x - 1] - up[x - 1] + 2 * (down[x] - up[x]) + down[x + 1] - up[x + 1];
            to[x] = sqrtf(gx * gx + gy * gy);
        }
        float *last = y > 0 ? up : spare;
        up = here;
        here = down;
        down = last;
    }
    free(lines);
}
