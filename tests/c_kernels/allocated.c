/* Temporary memory from everywhere: each is allocated, tested and freed as its author likes. */
#include <alloca.h>
#include <stdlib.h>

int plain(int w, int h, const float *restrict in, float *restrict out)
{
    float *t = (float *)malloc(sizeof(float) * w * h);
    if (!t) return -1;
#pragma scop
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++)
            t[y * w + x] = in[y * w + x] * 2;
        for (int x = 1; x < w; x++)
            out[y * w + x] = t[y * w + x] + t[y * w + x - 1];
    }
#pragma endscop
    free(t);
    return 0;
}

int together(int n, const float *restrict in, float *restrict out)
{
    int status = -1;
    size_t bytes = n * sizeof(float);
    float *a = NULL, *b = calloc(n, sizeof *b);
    a = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (a == NULL || b == NULL)
        goto done;
#pragma scop
    for (int i = 0; i < n; i++) {
        a[i] = in[i] + 1;
        b[i] = a[i] * a[i];
        if (i >= 2)
            out[i] = b[i] + b[i - 2];
    }
#pragma endscop
    status = 0;
done:
    free(a);
    free(b);
    return status;
}

int rows(int m, int n, const double in[restrict m][n], double out[restrict m][n])
{
    double (*t)[n], *line = alloca(n * sizeof(double));
    if ((t = malloc(sizeof(double[m][n]))) == NULL)
        return -1;
#pragma scop
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            line[j] = in[i][j] / 2;
            t[i][j] = line[j] + 1;
        }
        for (int j = 0; i > 0 && j < n; j++)
            out[i][j] = t[i][j] - t[i - 1][n - 1 - j];
    }
#pragma endscop
    free(t);
    return 0;
}

int inside(int n, const double *restrict in, double *restrict out)
{
#pragma scop
    double *t;
    if (posix_memalign((void **)&t, 32, n * sizeof(double)))
        return 1;
    for (int i = 0; i < n; i++) {
        t[i] = in[i] * in[i];
        out[i] = i > 0 ? t[i] - t[i - 1] : t[i];
    }
    free(t);
#pragma endscop
    return 0;
}

static short kept_for_later[1024], *last = kept_for_later;
static short scratch[1024];

void statics(int n, const short in[restrict 1024], short out[restrict 1024])
{
    static short own[1024];
#pragma scop
    for (int i = 0; i < n; i++) {
        scratch[i] = in[i] / 2;
        own[i] = scratch[i] + 1;
        kept_for_later[i] = own[i];
        if (i >= 3)
            out[i] = own[i] - own[i - 3];
    }
#pragma endscop
    last = kept_for_later;
}
