/* What the text says of the sizes: early returns and assertions in front of the region and inside. */
#include <assert.h>
#define MAX(a, b) ({ int a_ = (a); int b_ = (b); a_ > b_ ? a_ : b_; })

int asserted(int n, int m, const float in[restrict n], float out[restrict n])
{
    float t[n];
    if (n < 3 || m < 1)
        return -1;
    assert(m <= n);
#pragma scop
    for (int i = 0; i < n; i++) {
        assert(i < n);
        t[i] = in[i];
        assert(t[i] >= 0);
        out[i] = i < m ? t[i] : t[i] + t[MAX(i - 1, 0)];
    }
#pragma endscop
    return 0;
}
