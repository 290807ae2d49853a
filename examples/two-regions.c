/* Two functions with a region each.
   pairs replaces each pair of values by its smoothed second value; smooth is temporary, one cell is enough.
   water finds how much rain stays on a profile of heights; left is live in full when the second loop starts,
   right is needed for one step of a loop that runs backwards. */

#include <math.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void pairs(int N, const float in[restrict 2 * N + 1], float out[restrict 2 * N])
{
    float smooth[2 * N];

#pragma scop
    for (int i = 1; i < 2 * N; i += 2) {
        smooth[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
        out[i - 1] = out[i] = smooth[i];
    }
#pragma endscop
}

double water(int N, const double height[N])
{
    double left[N], right[N];
    double sum;

#pragma scop
    sum = 0.0;
    left[0] = height[0];
    for (int i = 1; i < N; i++)
        left[i] = fmax(left[i - 1], height[i]);

    right[N - 1] = height[N - 1];
    for (int i = N - 2; i >= 0; i--) {
        right[i] = fmax(right[i + 1], height[i]);
        sum += fmin(left[i], right[i]) - height[i];
    }
#pragma endscop

    return sum;
}
