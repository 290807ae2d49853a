/* Heat in a plate, in place for the caller: two buffers that change places after each time step, and the
   flow of heat from each point to its right neighbour. The border keeps its temperature. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#include <stdlib.h>

int heat(int w, int h, int steps, double c, double u[restrict h * w])
{
    double *flow = malloc(sizeof(double) * w * h);
    double *buffer = malloc(sizeof(double) * w * h);
    if (!flow || !buffer) {
        free(flow);
        free(buffer);
        return -1;
    }
    for (int i = 0; i < w * h; i++)
        buffer[i] = u[i];
    double *now = u, *next = buffer;

#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int y = 1; y < h - 1; y++) {
            for (int x = 0; x < w - 1; x++)
                flow[y * w + x] = c * (now[y * w + x + 1] - now[y * w + x]);
            for (int x = 1; x < w - 1; x++)
                next[y * w + x] = now[y * w + x] + flow[y * w + x] - flow[y * w + x - 1] +
                                  c * (now[(y - 1) * w + x] - 2 * now[y * w + x] + now[(y + 1) * w + x]);
        }
        double *old = now;
        now = next;
        next = old;
    }
#pragma endscop

    if (now != u)
        for (int i = 0; i < w * h; i++)
            u[i] = now[i];
    free(flow);
    free(buffer);
    return 0;
}
