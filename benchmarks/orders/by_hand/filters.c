/* One loop, everything in registers. */
void filters(int n, float feedback, const float in[restrict n], float out[restrict n])
{
    float before = in[0], last = in[1];
    float slope1 = 0, slope2 = 0, slope3 = 0;
    for (int i = 2; i < n; i++) {
        const float smooth = 0.25f * in[i - 2] + 0.5f * in[i - 1] + 0.25f * in[i];
        const float low = 0.3f * smooth + feedback * last - 0.2f * before;
        const float slope = 0.5f * (low - before);
        if (i >= 5)
            out[i] = 0.25f * (slope + slope1 + slope2 + slope3);
        before = last;
        last = low;
        slope3 = slope2;
        slope2 = slope1;
        slope1 = slope;
    }
}
