/* The part of gcc's OpenMP runtime that the tested programs need, on pthreads. It is linked instead of libgomp,
   whose barriers ThreadSanitizer cannot see, so that what it reports are races of the program.

   Nothing here orders threads more than OpenMP does: iterations, sections and singles are handed out by relaxed
   atomic additions, and every deferred task is a thread of its own. What is missing fails to link or aborts. */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONSTRUCTS = 4096, TASK_HAS_DEPENDENCES = 8 };

/* The iterations of a loop, or sections: so many steps from the start are taken. */
struct share {
    long start, end, step, chunk;
    long *taken;
};

struct task {
    pthread_t thread;
    struct team *team;
    void (*work)(void *);
    void *memory;
    struct task *next;
};

struct team {
    unsigned size;
    void (*work)(void *);
    void *data;
    struct share first;
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    unsigned here;
    unsigned long barriers;
    struct task *orphans; /* tasks whose parent task has ended */
    long taken[MOST_CONSTRUCTS];
};

struct member {
    struct team *team;
    unsigned number, constructs;
    struct share share;
    struct task *children;
    pthread_t thread;
};

static struct team alone = {.size = 1, .lock = PTHREAD_MUTEX_INITIALIZER, .all_here = PTHREAD_COND_INITIALIZER};
static __thread struct member *current;
static __thread struct member initial = {.team = &alone};
static unsigned requested;

static struct member *self(void)
{
    return current ? current : &initial;
}

static void fail(const char *reason)
{
    fprintf(stderr, "gomp_on_pthreads: %s\n", reason);
    abort();
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        fail("out of memory");
    return memory;
}

/* ------------------------------------------------------------------ threads */

int omp_get_max_threads(void)
{
    const char *given = getenv("OMP_NUM_THREADS");
    int number = requested ? (int)requested : given ? atoi(given) : 2;
    return number > 0 ? number : 1;
}

int omp_get_thread_num(void) { return (int)self()->number; }
int omp_get_num_threads(void) { return (int)self()->team->size; }
int omp_in_parallel(void) { return self()->team->size > 1; }
void omp_set_num_threads(int number) { requested = number > 0 ? (unsigned)number : 1; }

static void join(struct task *task)
{
    while (task) {
        struct task *next = task->next;
        pthread_join(task->thread, NULL);
        free(task);
        task = next;
    }
}

static void join_children(void)
{
    struct task *children = self()->children;
    self()->children = NULL;
    join(children);
}

void GOMP_barrier(void)
{
    struct team *team = self()->team;
    join_children();
    pthread_mutex_lock(&team->lock);
    unsigned long barrier = team->barriers;
    if (++team->here < team->size) {
        while (barrier == team->barriers)
            pthread_cond_wait(&team->all_here, &team->lock);
    } else {
        while (team->orphans) {
            struct task *orphans = team->orphans;
            team->orphans = NULL;
            pthread_mutex_unlock(&team->lock);
            join(orphans);
            pthread_mutex_lock(&team->lock);
        }
        team->here = 0;
        team->barriers++;
        pthread_cond_broadcast(&team->all_here);
    }
    pthread_mutex_unlock(&team->lock);
}

static void *run_member(void *argument)
{
    struct member *outer = current;
    current = argument;
    current->team->work(current->team->data);
    GOMP_barrier();
    current = outer;
    return NULL;
}

static void run_team(void (*work)(void *), void *data, unsigned size, struct share first)
{
    struct team *team = allocate(sizeof *team);
    team->size = self()->team->size > 1 ? 1 : size ? size : (unsigned)omp_get_max_threads();
    team->work = work;
    team->data = data;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->all_here, NULL);
    struct member *members = allocate(team->size * sizeof *members);
    for (unsigned k = team->size; k-- > 0;) {
        first.taken = &team->taken[0];
        members[k] = (struct member){.team = team, .number = k, .constructs = 1, .share = first};
        if (k == 0)
            run_member(members);
        else if (pthread_create(&members[k].thread, NULL, run_member, &members[k]))
            fail("no more threads");
    }
    for (unsigned k = 1; k < team->size; k++)
        pthread_join(members[k].thread, NULL);
    pthread_cond_destroy(&team->all_here);
    pthread_mutex_destroy(&team->lock);
    free(members);
    free(team);
}

void GOMP_parallel(void (*work)(void *), void *data, unsigned size, unsigned flags)
{
    (void)flags;
    run_team(work, data, size, (struct share){0});
}

/* ------------------------------------------------------------------ loops, sections, single */

static struct share *begin(long start, long end, long step, long chunk)
{
    struct member *member = self();
    if (member->team == &alone)
        memset(alone.taken, 0, sizeof alone.taken);
    if (member->constructs >= MOST_CONSTRUCTS)
        fail("too many constructs in one parallel region");
    member->share = (struct share){start, end, step, chunk, &member->team->taken[member->constructs]};
    member->constructs += member->team != &alone;
    return &member->share;
}

static bool take(long *from, long *to)
{
    struct share *share = &self()->share;
    long steps = share->step > 0 ? (share->end - share->start + share->step - 1) / share->step
                                 : (share->start - share->end - share->step - 1) / -share->step;
    long first = __atomic_fetch_add(share->taken, share->chunk, __ATOMIC_RELAXED);
    if (first >= steps)
        return false;
    long last = first + share->chunk < steps ? first + share->chunk : steps;
    *from = share->start + first * share->step;
    *to = share->start + last * share->step;
    return true;
}

static bool begin_loop(long start, long end, long step, long chunk, long *from, long *to)
{
    begin(start, end, step, chunk > 0 ? chunk : 1);
    return take(from, to);
}

#define SCHEDULE(name)                                                                                            \
    bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long *from, long *to)              \
    {                                                                                                             \
        return begin_loop(start, end, step, chunk, from, to);                                                     \
    }                                                                                                             \
    bool GOMP_loop_##name##_next(long *from, long *to) { return take(from, to); }                                 \
    void GOMP_parallel_loop_##name(void (*work)(void *), void *data, unsigned size, long start, long end,         \
                                   long step, long chunk, unsigned flags)                                         \
    {                                                                                                             \
        (void)flags;                                                                                              \
        run_team(work, data, size, (struct share){start, end, step, chunk > 0 ? chunk : 1, NULL});                \
    }

SCHEDULE(dynamic)
SCHEDULE(guided)
SCHEDULE(nonmonotonic_dynamic)
SCHEDULE(nonmonotonic_guided)

void GOMP_loop_end(void) { GOMP_barrier(); }
void GOMP_loop_end_nowait(void) {}

unsigned GOMP_sections_next(void)
{
    long from, to;
    return take(&from, &to) ? (unsigned)from : 0;
}

unsigned GOMP_sections_start(unsigned count)
{
    begin(1, (long)count + 1, 1, 1);
    return GOMP_sections_next();
}

void GOMP_parallel_sections(void (*work)(void *), void *data, unsigned size, unsigned count, unsigned flags)
{
    (void)flags;
    run_team(work, data, size, (struct share){1, (long)count + 1, 1, 1, NULL});
}

void GOMP_sections_end(void) { GOMP_barrier(); }
void GOMP_sections_end_nowait(void) {}

bool GOMP_single_start(void)
{
    long from, to;
    begin(0, 1, 1, 1);
    return take(&from, &to);
}

/* ------------------------------------------------------------------ mutual exclusion */

static pthread_mutex_t critical = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t atomic = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t *named(void **place)
{
    void *found = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (!found) {
        pthread_mutex_t *fresh = allocate(sizeof *fresh);
        pthread_mutex_init(fresh, NULL);
        if (__atomic_compare_exchange_n(place, &found, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return fresh;
        free(fresh);
    }
    return found;
}

void GOMP_critical_start(void) { pthread_mutex_lock(&critical); }
void GOMP_critical_end(void) { pthread_mutex_unlock(&critical); }
void GOMP_critical_name_start(void **place) { pthread_mutex_lock(named(place)); }
void GOMP_critical_name_end(void **place) { pthread_mutex_unlock(named(place)); }
void GOMP_atomic_start(void) { pthread_mutex_lock(&atomic); }
void GOMP_atomic_end(void) { pthread_mutex_unlock(&atomic); }

/* ------------------------------------------------------------------ tasks */

static void *run_task(void *argument)
{
    struct task *task = argument;
    struct member as_task = {.team = task->team};
    current = &as_task;
    task->work(task->memory);
    free(task->memory);
    while (as_task.children) {
        struct task *child = as_task.children;
        as_task.children = child->next;
        pthread_mutex_lock(&task->team->lock);
        child->next = task->team->orphans;
        task->team->orphans = child;
        pthread_mutex_unlock(&task->team->lock);
    }
    return NULL;
}

void GOMP_task(void (*work)(void *), void *data, void (*copy)(void *, void *), long size, long alignment,
               bool is_deferred, unsigned flags, void **dependences)
{
    (void)dependences;
    if (flags & TASK_HAS_DEPENDENCES)
        fail("tasks with dependences are not supported");
    if (alignment > (long)_Alignof(max_align_t))
        fail("data of tasks with large alignment are not supported");
    void *memory = allocate((size_t)size);
    if (copy)
        copy(memory, data);
    else
        memcpy(memory, data, (size_t)size);
    if (!is_deferred) {
        work(memory);
        free(memory);
        return;
    }
    struct task *task = allocate(sizeof *task);
    *task = (struct task){.team = self()->team, .work = work, .memory = memory, .next = self()->children};
    self()->children = task;
    if (pthread_create(&task->thread, NULL, run_task, task))
        fail("no more threads");
}

void GOMP_taskwait(void) { join_children(); }
