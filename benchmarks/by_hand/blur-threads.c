/* blur-bands.c by hand: threads share bands of rows, because whole rows of the images are faster to
   read and write. Each has two rows of blurx; a new row replaces the one before the last, cell by cell after it was
   read. The two rows in front of a band are computed again. */

#define BAND 64
#define STRIP 8192
#define MIN(a, b) ((a) < (b) ? (a) : (b))

void blur(int N, const float in[restrict N][N + 2], float out[restrict N][N])
{
#pragma omp parallel for schedule(dynamic)
    for (int ty = 2; ty < N; ty += BAND) {
        float rows[2][STRIP] __attribute__((aligned(64)));
        for (int tx = 0; tx < N; tx += STRIP) {
            const int count = MIN(STRIP, N - tx);
            for (int y = ty - 2; y < MIN(ty + BAND, N); y++) {
                const float *restrict from = in[y] + tx;
                float *restrict last = rows[y % 2], *restrict before = rows[(y + 1) % 2], *restrict to = out[y] + tx;
                if (y < ty)
                    for (int x = 0; x < count; x++)
                        last[x] = (from[x] + from[x + 1] + from[x + 2]) * (1.0f / 3);
                else
                    for (int x = 0; x < count; x++) {
                        const float now = (from[x] + from[x + 1] + from[x + 2]) * (1.0f / 3);
                        to[x] = (now + before[x] + last[x]) * (1.0f / 3);
                        last[x] = now;
                    }
            }
        }
    }
}
