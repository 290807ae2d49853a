typedef struct { float u, v; } cell;
void f(int n, cell g[n], float out[n])
{
    float t[n];
#pragma scop
    for (int i = 0; i < n; i++) {
        cell *c = i > 3 ? &g[i] : &g[0];
        c->u = i;
        t[i] = c->v;
    }
    for (int i = 0; i < n; i++)
        out[i] = t[i] + g[n - 1 - i].u;
#pragma endscop
}
