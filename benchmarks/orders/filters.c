/* A chain of filters along a signal: a smoothing one, one with feedback, a derivative, and an average. */
#include <stdlib.h>

void filters(int n, float feedback, const float in[restrict n], float out[restrict n])
{
    float *smooth = malloc(sizeof(float) * n), *low = malloc(sizeof(float) * n);
    float *slope = malloc(sizeof(float) * n);
#pragma scop
    for (int i = 2; i < n; i++)
        smooth[i] = 0.25f * in[i - 2] + 0.5f * in[i - 1] + 0.25f * in[i];
    low[0] = in[0];
    low[1] = in[1];
    for (int i = 2; i < n; i++)
        low[i] = 0.3f * smooth[i] + feedback * low[i - 1] - 0.2f * low[i - 2];
    for (int i = 2; i < n; i++)
        slope[i] = 0.5f * (low[i] - low[i - 2]);
    for (int i = 5; i < n; i++)
        out[i] = 0.25f * (slope[i] + slope[i - 1] + slope[i - 2] + slope[i - 3]);
#pragma endscop
    free(smooth);
    free(low);
    free(slope);
}
