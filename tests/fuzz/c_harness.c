/* Calls every version of a random program at every point, each in a process of its own, and prints a line a call:
   version, point, status, hash of what is left, bytes allocated at most, bytes not freed.

   The statuses are those of the process; 77 says that the arrays would be too large. */

#define _GNU_SOURCE
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SITES = 256, TOO_LARGE = 77 };

extern void (*const fuzz_versions[])(const long long *point);
extern const int fuzz_version_count, fuzz_point_count, fuzz_size_count;
extern const long long fuzz_points[];

struct result {
    uint64_t hash;
    size_t most, left;
};

static struct result *result;
static size_t sites[SITES], allocated, most_allocated;
static uint64_t state;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);

static void *noted(void *memory)
{
    if (memory) {
        size_t now = __atomic_add_fetch(&allocated, malloc_usable_size(memory), __ATOMIC_RELAXED);
        if (now > most_allocated)
            most_allocated = now;
    }
    return memory;
}

void *__wrap_malloc(size_t size) { return noted(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) { return noted(__real_calloc(count, size)); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) { return noted(__real_aligned_alloc(alignment, size)); }

void __wrap_free(void *memory)
{
    if (memory)
        __atomic_sub_fetch(&allocated, malloc_usable_size(memory), __ATOMIC_RELAXED);
    __real_free(memory);
}

/* An array was declared; an array of a loop's body counts once. */
void fuzz_bytes(int site, size_t size)
{
    if (site < SITES && size > sites[site])
        sites[site] = size;
}

unsigned fuzz_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

void *fuzz_allocate(long long count, size_t size)
{
    if (count < 0 || count > 200000)
        _exit(TOO_LARGE);
    return __real_malloc(count * size);
}

void fuzz_release(void *memory) { __real_free(memory); }

void fuzz_leave(const void *memory, size_t size)
{
    for (size_t k = 0; k < size; k++)
        result->hash = (result->hash ^ ((const unsigned char *)memory)[k]) * 1099511628211u;
}

static void call(int version, int point)
{
    struct itimerval limit = {.it_value = {version ? 3 : 0, version ? 0 : 400000}};
    char name[64];
    snprintf(name, sizeof name, "stderr-%d-%d", version, point);
    if (!freopen(name, "w", stderr))
        _exit(78);
    setitimer(ITIMER_PROF, &limit, NULL);
    state = 7 + point;
    result->hash = 14695981039346656037u;
    fuzz_versions[version](fuzz_points + point * fuzz_size_count);
    result->most = most_allocated;
    for (int k = 0; k < SITES; k++)
        result->most += sites[k];
    result->left = allocated;
    _exit(0);
}

int main(void)
{
    result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int point = 0; point < fuzz_point_count; point++)
        for (int version = 0; version < fuzz_version_count; version++) {
            int status;
            memset(result, 0, sizeof *result);
            fflush(stdout);
            pid_t child = fork();
            if (child == 0)
                call(version, point);
            waitpid(child, &status, 0);
            printf("%d %d %d %llx %zu %zu\n", version, point, status, (unsigned long long)result->hash,
                   result->most, result->left);
            if (version == 0 && status)
                break;
        }
    return 0;
}
