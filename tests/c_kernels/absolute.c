/* The absolute value in subscripts: mirrored borders. */
#include <stdlib.h>

void mirror(int n, const float in[n], float out[n])
{
    float t[n];
#pragma scop
    for (int i = 0; i < n; i++)
        t[i] = 2 * in[i];
    for (int i = 0; i < n - 1; i++) {
        int left = abs(i - 1);
        out[i] = t[left] + t[i] + t[labs(i + 1L)];
    }
#pragma endscop
}
