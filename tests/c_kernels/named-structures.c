/* Pointers to elements of arrays of structures, also of one that a structure leads to. */
typedef struct {
    float x, v;
} particle;

typedef struct {
    int n;
    particle *all;
} world;

void step(world *restrict w, float dt)
{
    const int n = w->n;
    float force[n];
#pragma scop
    for (int i = 0; i < n; i++) {
        const particle *p = &w->all[i];
        force[i] = -p->x;
    }
    for (int i = 0; i < n; i++) {
        particle *p = w->all + i;
        p->v += dt * force[i];
        p->x += dt * p->v;
    }
#pragma endscop
}
