/* Cases that go on into the next one, with a break in the middle; initial values inside of the region. */
void fall_through(int n, const int kind[restrict n], int x[restrict n])
{
    int t[n], u[n];
#pragma scop
    const int add[3] = {1, 2, 3};
    for (int i = 0; i < n; i++) {
        switch (i % 3) {
        case 0:
            t[i] = x[i];
        case 1:
            u[i] = 2 * x[i];
            if (i < 4)
                break;
        default:
            u[i] = 3;
        }
        switch (kind[i]) {
        case 2:
            x[i] += add[0];
            /* falls through */
        case 1:
        case 0:
            x[i] += add[1];
            break;
        }
        x[i] += u[i];
        if (i % 3 == 0)
            x[i] += t[i];
    }
#pragma endscop
}
