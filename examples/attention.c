/* Attention of one head: every query against all keys, a softmax over the scores, a weighted sum of values. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#include <math.h>

void attention(int n, int d, const float q[n][d], const float k[n][d], const float v[n][d], float out[n][d])
{
    float scores[n][n];
    float scale = 1.0f / sqrtf((float)d);

#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            float dot = 0.0f;
            for (int c = 0; c < d; c++)
                dot += q[i][c] * k[j][c];
            scores[i][j] = dot * scale;
        }

        float largest = scores[i][0];
        for (int j = 1; j < n; j++)
            largest = fmaxf(largest, scores[i][j]);
        float total = 0.0f;
        for (int j = 0; j < n; j++) {
            scores[i][j] = expf(scores[i][j] - largest);
            total += scores[i][j];
        }

        for (int c = 0; c < d; c++)
            out[i][c] = 0.0f;
        for (int j = 0; j < n; j++)
            for (int c = 0; c < d; c++)
                out[i][c] += scores[i][j] / total * v[j][c];
    }
#pragma endscop
}
