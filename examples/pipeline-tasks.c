/* A pipeline of OpenMP tasks: blocks are prepared, filtered and added up; at most two blocks are under way at a
   time, because a block is prepared only when the block two before it was filtered.
   raw is temporary: two blocks are needed, whatever the number of threads. */

#pragma GCC diagnostic ignored "-Wunknown-pragmas"

void pipeline_tasks(int M, int N, const double in[restrict M][N], double out[restrict M][N])
{
    double raw[M][N];

#pragma scop
#pragma omp parallel
#pragma omp single
    for (int b = 0; b < M; b++) {
#pragma omp task depend(out: raw[b][0])
        for (int i = 0; i < N; i++)
            raw[b][i] = 2.0 * in[b][i];

#pragma omp task depend(in: raw[b][0]) depend(out: raw[b + 2][0])
        for (int i = 0; i < N; i++)
            out[b][i] = raw[b][i] + raw[b][N - 1 - i];
    }
#pragma endscop
}
