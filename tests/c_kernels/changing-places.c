/* Whole numbers that change places, and one that follows another; what a number is behind its loop. */
#define SWAP(a, b) do { int t = a; a = b; b = t; } while (0)

void waves(int n, int steps, const double in[n], double out[n])
{
    double u[3][n];
    int old = 0, now = 1, next = 2, row = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        u[old][i] = u[now][i] = u[next][i] = in[i];
    for (int s = 0; s < steps; s++) {
        int other = 1 - row;
        for (int i = 1; i < n - 1; i++)
            u[next][i] = u[now][i - 1] + u[now][i + 1] - u[old][i];
        out[other] = s;
        row = other;
        int spare = old;
        old = now;
        now = next;
        next = spare;
    }
    for (int i = 0; i < n; i++)
        out[i] = u[now][i];
#pragma endscop
}

void swapped(int n, int steps, const double in[n], double out[n])
{
    double u[2][n];
    int from = 0, to = 1;
#pragma scop
    for (int s = 1; s <= steps; s++) {
        for (int i = 0; i < n; i++)
            u[to][i] = s == 1 ? in[i] : u[from][i] + 1;
        for (int i = 0; i < n; i++)
            out[i] = u[to][i];
        SWAP(from, to);
    }
#pragma endscop
}
