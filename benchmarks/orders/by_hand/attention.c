/* One row of scores. */
#include <math.h>
#include <stdlib.h>

void attention(int n, int d, const float q[restrict n][d], const float k[restrict n][d],
               const float v[restrict n][d], float out[restrict n][d])
{
    float *restrict s = malloc(sizeof(float) * n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            float score = 0;
            for (int l = 0; l < d; l++)
                score += q[i][l] * k[j][l];
            s[j] = score;
        }
        float most = s[0], sum = 0;
        for (int j = 1; j < n; j++)
            most = s[j] > most ? s[j] : most;
        for (int j = 0; j < n; j++) {
            s[j] = expf(s[j] - most);
            sum += s[j];
        }
        for (int l = 0; l < d; l++)
            out[i][l] = 0;
        for (int j = 0; j < n; j++) {
            const float weight = s[j] / sum;
            for (int l = 0; l < d; l++)
                out[i][l] += weight * v[j][l];
        }
    }
    free(s);
}
