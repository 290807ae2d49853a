/* harris-bands.c by hand: threads share bands of rows. Each has, for strips of columns, three rows of each product,
   which turn, and scalars for the rest. What a band or a strip needs of its neighbours is computed again. */

#define BAND 64
#define STRIP 1024
/* The first cell of a row, such that the second one begins a line of the cache, and from one row to the next. */
#define FIRST 15
#define PITCH (STRIP + 32)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SUM(a) \
    (a[0][x - 1] + a[0][x] + a[0][x + 1] + a[1][x - 1] + a[1][x] + a[1][x + 1] + a[2][x - 1] + a[2][x] + a[2][x + 1])

void harris(int N, const float in[restrict N][N], float out[restrict N][N])
{
#pragma omp parallel for schedule(dynamic)
    for (int ty = 2; ty < N - 2; ty += BAND) {
        float memory[3][3][PITCH] __attribute__((aligned(64)));
        for (int tx = 2; tx < N - 2; tx += STRIP) {
            const int count = MIN(STRIP, N - 2 - tx);
            for (int y = ty - 1; y <= MIN(ty + BAND, N - 2); y++) {
                const float *up = in[y - 1] + tx - 1, *mine = in[y] + tx - 1, *down = in[y + 1] + tx - 1;
                float *xx[3], *xy[3], *yy[3];
                for (int k = 0; k < 3; k++) {
                    xx[k] = memory[(y + k) % 3][0] + FIRST;
                    xy[k] = memory[(y + k) % 3][1] + FIRST;
                    yy[k] = memory[(y + k) % 3][2] + FIRST;
                }
                float *restrict a = xx[2], *restrict b = xy[2], *restrict c = yy[2], *restrict to = out[y - 1] + tx - 1;
                for (int x = 0; x < count + 2; x++) {
                    const float dx = (up[x + 1] + 2 * mine[x + 1] + down[x + 1]
                                      - up[x - 1] - 2 * mine[x - 1] - down[x - 1]) / 12;
                    const float dy = (down[x - 1] + 2 * down[x] + down[x + 1]
                                      - up[x - 1] - 2 * up[x] - up[x + 1]) / 12;
                    a[x] = dx * dx;
                    b[x] = dx * dy;
                    c[x] = dy * dy;
                }
                if (y > ty) {
#pragma GCC ivdep
                    for (int x = 1; x <= count; x++) {
                        const float sxx = SUM(xx), sxy = SUM(xy), syy = SUM(yy);
                        to[x] = sxx * syy - sxy * sxy - 0.04f * (sxx + syy) * (sxx + syy);
                    }
                }
            }
        }
    }
}
