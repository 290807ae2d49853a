/* Attention of one head: scores, softmax of each row, weighted sum of values. */
#include <math.h>
#include <stdlib.h>

void attention(int n, int d, const float q[restrict n][d], const float k[restrict n][d],
               const float v[restrict n][d], float out[restrict n][d])
{
    float (*s)[n] = malloc(sizeof(float[n][n]));
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            s[i][j] = 0;
            for (int l = 0; l < d; l++)
                s[i][j] += q[i][l] * k[j][l];
        }
    for (int i = 0; i < n; i++) {
        float most = s[i][0], sum = 0;
        for (int j = 1; j < n; j++)
            most = s[i][j] > most ? s[i][j] : most;
        for (int j = 0; j < n; j++) {
            s[i][j] = expf(s[i][j] - most);
            sum += s[i][j];
        }
        for (int j = 0; j < n; j++)
            s[i][j] /= sum;
    }
    for (int i = 0; i < n; i++) {
        for (int l = 0; l < d; l++)
            out[i][l] = 0;
        for (int j = 0; j < n; j++)
            for (int l = 0; l < d; l++)
                out[i][l] += s[i][j] * v[j][l];
    }
#pragma endscop
    free(s);
}
