/* A chain of audio filters: a low pass (FIR) by a table of coefficients, a resonator (IIR) with its two delays, a
   comb, and a smoothed envelope that limits the loudness. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define TAPS 8
#define DELAY 8

static const float low_pass[TAPS] = {0.02f, 0.06f, 0.15f, 0.27f, 0.27f, 0.15f, 0.06f, 0.02f};

void filter_chain(int n, const float *in, float *out, float a1, float a2, float b0, float feedback)
{
    float smooth[n], ringing[n], combed[n], envelope[n];

#pragma scop
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int k = 0; k < TAPS; k++)
            if (i - k >= 0)
                sum += low_pass[k] * in[i - k];
        smooth[i] = sum;

        ringing[i] = b0 * smooth[i];
        if (i >= 1)
            ringing[i] -= a1 * ringing[i - 1];
        if (i >= 2)
            ringing[i] -= a2 * ringing[i - 2];

        combed[i] = ringing[i];
        if (i >= DELAY)
            combed[i] += feedback * combed[i - DELAY];

        float level = combed[i] < 0 ? -combed[i] : combed[i];
        envelope[i] = i == 0 ? level : 0.99f * envelope[i - 1] + 0.01f * level;

        out[i] = combed[i] / (1.0f + envelope[i]);
    }
#pragma endscop
}
