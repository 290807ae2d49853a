/* Every construct of gomp_on_pthreads.c, with results that depend on all of its synchronisation.
   -DRACE=k leaves out the k-th piece of it, in many places at once: ThreadSanitizer may miss accesses at the very
   same moment. Prints `ok`, or what is wrong. */

#include <stdio.h>

enum { N = 64 };

static long a[N], b[N], others[N], counter, total;

static void check(const char *what, long found, long expected)
{
    if (found != expected)
        printf("%s: %ld instead of %ld\n", what, found, expected);
}

static long fibonacci(int n)
{
    long x, y;
    if (n < 2)
        return n;
#pragma omp task shared(x)
    x = fibonacci(n - 1);
    y = fibonacci(n - 2);
#if RACE != 1
#pragma omp taskwait
#endif
    return x + y;
}

static void leave_orphans(int from, int to)
{
    for (int i = from; i < to; i++) {
#pragma omp task firstprivate(i)
        {
#pragma omp task firstprivate(i)
            a[i] = -i;
        }
    }
}

int main(void)
{
    long sum = 0;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp parallel for schedule(dynamic, 3)
    for (int i = N - 1; i >= 0; i--)
        b[i] = a[i] + 1;
#pragma omp parallel for schedule(guided) reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += b[i];
    check("loops", sum, N * (N + 1) / 2);

#pragma omp parallel
    {
#if RACE == 2
#pragma omp for nowait
#else
#pragma omp for
#endif
        for (int i = 0; i < N; i++)
            a[i] = 2 * i;
#pragma omp for schedule(dynamic)
        for (int i = 0; i < N; i++)
            b[i] = a[N - 1 - i];
#pragma omp single
        total = b[0];
        for (int i = 0; i < N; i++) {
#pragma omp critical
            counter++;
#if RACE == 3
#pragma omp critical(elsewhere)
#else
#pragma omp critical
#endif
            counter++;
        }
        for (int i = 0; i < N; i++)
#pragma omp atomic
            others[i]++;
#if RACE != 4
#pragma omp barrier
#endif
#pragma omp master
        for (int i = 0; i < N; i++)
            check("atomic", others[i], 2);
    }
    check("single", total, 2 * (N - 1));
    check("critical", counter, 4 * N);

#pragma omp parallel sections
    {
#pragma omp section
        a[0] = 1;
#pragma omp section
        a[1] = 2;
#pragma omp section
        a[2] = 3;
    }
    check("sections", a[0] + a[1] + a[2], 6);

#pragma omp parallel
#pragma omp single
    total = fibonacci(6);
    check("tasks", total, 8);

#pragma omp parallel
    {
#pragma omp single nowait
        leave_orphans(0, N / 4);
#if RACE != 5
#pragma omp barrier
#endif
#pragma omp for
        for (int i = 0; i < N / 4; i++)
            b[i] = a[i];
    }
    sum = 0;
    for (int i = 0; i < N / 4; i++)
        sum += b[i];
    check("tasks of tasks", sum, -(N / 4) * (N / 4 - 1) / 2);

    total = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 8; i++) {
#if RACE == 6
#pragma omp task
#else
#pragma omp task depend(out : total)
#endif
        total = 2 * total + 1;
#pragma omp task depend(in : total) firstprivate(i)
        a[i] = total;
#pragma omp task depend(in : total) firstprivate(i)
        b[i] = total;
    }
    sum = 0;
    for (int i = 0; i < 8; i++)
        sum += a[i] - b[i];
    check("dependences", total + sum, 255);
    puts("ok");
    return 0;
}
