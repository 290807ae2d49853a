/* The part of gcc's OpenMP runtime that the tested programs need, on pthreads. It is linked instead of libgomp,
   whose barriers ThreadSanitizer cannot see, so that what it reports are races of the program.

   Nothing here orders threads more than OpenMP does: iterations, sections and singles are handed out by relaxed
   atomic additions, and every deferred task is a thread of its own. What is missing fails to link or aborts. */

#include <pthread.h>
#include <semaphore.h>
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

/* A task that is not joined yet. Siblings that wait for its end are joined, and freed, before it. */
struct task {
    pthread_t thread;
    struct team *team;
    void (*work)(void *);
    void *memory;
    struct task *next; /* older siblings */
    size_t outputs, dependences;
    void **addresses; /* outputs first */
    struct task **earlier;
    sem_t ended;
};

struct barrier {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    unsigned here;
    unsigned long passed;
};

/* Barriers take turns: a thread that wakes up late from one must not learn what others did on their way to the
   next one. */
struct team {
    unsigned size;
    void (*work)(void *);
    void *data;
    struct barrier barriers[2];
    pthread_mutex_t lock;
    struct task *orphans; /* tasks whose parent task has ended */
    long taken[MOST_CONSTRUCTS];
};

struct member {
    struct team *team;
    unsigned number, constructs, barriers;
    struct share share;
    struct task *children;
    pthread_t thread;
};

#define BARRIER {.lock = PTHREAD_MUTEX_INITIALIZER, .all_here = PTHREAD_COND_INITIALIZER}
static struct team alone = {.size = 1, .barriers = {BARRIER, BARRIER}, .lock = PTHREAD_MUTEX_INITIALIZER};
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
        sem_destroy(&task->ended);
        free(task->addresses);
        free(task->earlier);
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

static void join_orphans(struct team *team)
{
    struct task *orphans;
    do {
        pthread_mutex_lock(&team->lock);
        orphans = team->orphans;
        team->orphans = NULL;
        pthread_mutex_unlock(&team->lock);
        join(orphans);
    } while (orphans);
}

void GOMP_barrier(void)
{
    struct team *team = self()->team;
    struct barrier *barrier = &team->barriers[self()->barriers++ % 2];
    join_children();
    pthread_mutex_lock(&barrier->lock);
    unsigned long passed = barrier->passed;
    if (++barrier->here < team->size) {
        while (passed == barrier->passed)
            pthread_cond_wait(&barrier->all_here, &barrier->lock);
    } else {
        join_orphans(team);
        barrier->here = 0;
        barrier->passed++;
        pthread_cond_broadcast(&barrier->all_here);
    }
    pthread_mutex_unlock(&barrier->lock);
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
    for (int k = 0; k < 2; k++) {
        pthread_mutex_init(&team->barriers[k].lock, NULL);
        pthread_cond_init(&team->barriers[k].all_here, NULL);
    }
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
    for (int k = 0; k < 2; k++) {
        pthread_cond_destroy(&team->barriers[k].all_here);
        pthread_mutex_destroy(&team->barriers[k].lock);
    }
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

static void wait_for(struct task **earlier)
{
    for (; *earlier; earlier++) {
        sem_wait(&(*earlier)->ended);
        sem_post(&(*earlier)->ended);
    }
}

static void *run_task(void *argument)
{
    struct task *task = argument;
    struct member as_task = {.team = task->team};
    current = &as_task;
    wait_for(task->earlier);
    task->work(task->memory);
    free(task->memory);
    if (as_task.children) {
        struct task *oldest = as_task.children;
        while (oldest->next)
            oldest = oldest->next;
        pthread_mutex_lock(&task->team->lock);
        oldest->next = task->team->orphans;
        task->team->orphans = as_task.children;
        pthread_mutex_unlock(&task->team->lock);
    }
    sem_post(&task->ended);
    return NULL;
}

static bool must_follow(const struct task *task, const struct task *earlier)
{
    for (size_t k = 0; k < task->dependences; k++)
        for (size_t j = 0; j < earlier->dependences; j++)
            if (task->addresses[k] == earlier->addresses[j] && (k < task->outputs || j < earlier->outputs))
                return true;
    return false;
}

static void note_dependences(struct task *task, void **given)
{
    if (!given[0])
        fail("only in, out and inout dependences are supported");
    task->dependences = (size_t)given[0];
    task->outputs = (size_t)given[1];
    task->addresses = allocate(task->dependences * sizeof *given);
    memcpy(task->addresses, given + 2, task->dependences * sizeof *given);
}

void GOMP_task(void (*work)(void *), void *data, void (*copy)(void *, void *), long size, long alignment,
               bool is_deferred, unsigned flags, void **dependences)
{
    if (alignment > (long)_Alignof(max_align_t))
        fail("data of tasks with large alignment are not supported");
    struct task *task = allocate(sizeof *task);
    *task = (struct task){.team = self()->team, .work = work, .memory = allocate((size_t)size)};
    if (copy)
        copy(task->memory, data);
    else if (size)
        memcpy(task->memory, data, (size_t)size);
    if (flags & TASK_HAS_DEPENDENCES)
        note_dependences(task, dependences);
    size_t siblings = 0, count = 0;
    for (struct task *other = self()->children; other; other = other->next)
        siblings++;
    task->earlier = allocate((siblings + 1) * sizeof *task->earlier);
    for (struct task *other = self()->children; other; other = other->next)
        if (must_follow(task, other))
            task->earlier[count++] = other;
    if (is_deferred) {
        sem_init(&task->ended, 0, 0);
        task->next = self()->children;
        self()->children = task;
        if (pthread_create(&task->thread, NULL, run_task, task))
            fail("no more threads");
    } else {
        wait_for(task->earlier);
        work(task->memory);
        free(task->memory);
        free(task->addresses);
        free(task->earlier);
        free(task);
    }
}

void GOMP_taskwait(void) { join_children(); }
