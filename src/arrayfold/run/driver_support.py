"""The part of a driver that is the same for every function: made-up data, memory, and what is left behind.

It is compiled by itself, so that macros and functions of the user's file mean nothing here.
"""

from __future__ import annotations

DECLARATIONS = """\
void arrayfold_start(int, char **, const char *);
long long arrayfold_number(int);
double arrayfold_real(void);
long long arrayfold_integer(void);
__SIZE_TYPE__ arrayfold_extent(long long);
void *arrayfold_allocate(__SIZE_TYPE__, __SIZE_TYPE__);
__SIZE_TYPE__ arrayfold_room(const volatile void *);
void arrayfold_fail(const char *, const char *);
void arrayfold_name(const char *);
void arrayfold_put_integer(long long);
void arrayfold_put_real(double);
void arrayfold_put_long_real(long double);
void arrayfold_finish(void);
"""

MISUSE = 97
NO_MEMORY = 99

SUPPORT = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **numbers;
static int count_of_numbers;
static FILE *result, *names;
static long long words;
static unsigned long long state = @SEED@ULL;
static int kind;
static struct block { char *start, *end; } *blocks;
static size_t count_of_blocks, total_bytes;

void arrayfold_fail(const char *what, const char *name)
{
  fprintf(stderr, "arrayfold: %s %s\\n", what, name);
  exit(@MISUSE@);
}

/* program [RESULT NAMES KIND NUMBER...]: without arguments results go to standard output. */
void arrayfold_start(int argc, char **argv, const char *defaults)
{
  result = stdout;
  if (argc > 3) {
    result = fopen(argv[1], "wb");
    names = fopen(argv[2], "w");
    if (!result || !names)
      arrayfold_fail("cannot write", argv[1]);
    kind = atoi(argv[3]);
    numbers = argv + 4;
    count_of_numbers = argc - 4;
    return;
  }
  char *text = malloc(strlen(defaults) + 1);
  numbers = malloc((strlen(defaults) + 1) * sizeof *numbers);
  if (!text || !numbers)
    exit(@NO_MEMORY@);
  strcpy(text, defaults);
  for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
    numbers[count_of_numbers++] = word;
}

long long arrayfold_number(int which)
{
  if (which >= count_of_numbers)
    arrayfold_fail("too few numbers were given to", "the program");
  return strtoll(numbers[which], NULL, 10);
}

static unsigned long long bits(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 11;
}

double arrayfold_real(void) { return (double)bits() / 9007199254740992.0; }

long long arrayfold_integer(void)
{
  unsigned long long value = bits();
  switch (kind) {
  case 0: return (long long)(value % 4);
  case 1: return (long long)(value % 4) + 1;
  case 2: return (long long)(value % 100) + 1;
  default: return 0;
  }
}

size_t arrayfold_extent(long long count) { return count > 0 ? (size_t)count : 0; }

void *arrayfold_allocate(size_t count, size_t bytes)
{
  size_t most = (size_t)-1 / 2;
#ifdef _SC_PHYS_PAGES
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0)
    most = (size_t)pages * (size_t)page;
#endif
  if (count > (most - total_bytes) / (bytes ? bytes : 1))
    exit(@NO_MEMORY@);
  total_bytes += count * bytes;
  char *memory = calloc(count ? count : 1, bytes ? bytes : 1);
  struct block *more = realloc(blocks, (count_of_blocks + 1) * sizeof *blocks);
  if (!memory || !more)
    exit(@NO_MEMORY@);
  blocks = more;
  blocks[count_of_blocks].start = memory;
  blocks[count_of_blocks++].end = memory + count * bytes;
  return memory;
}

size_t arrayfold_room(const volatile void *pointer)
{
  for (size_t k = 0; k < count_of_blocks; k++)
    if (blocks[k].start <= (char *)pointer && (char *)pointer < blocks[k].end)
      return (size_t)(blocks[k].end - (char *)pointer);
  return 0;
}

void arrayfold_name(const char *name)
{
  if (names)
    fprintf(names, "%lld %s\\n", words, name);
}

void arrayfold_put_integer(long long value)
{
  words++;
  fwrite(&value, sizeof value, 1, result);
}

/* All NaNs are one: which of them an operation gives is the compiler's choice. */
void arrayfold_put_real(double value)
{
  unsigned long long image;
  memcpy(&image, &value, sizeof image);
  if ((image & 0x7fffffffffffffffULL) > 0x7ff0000000000000ULL)
    image = 0x7ff8000000000000ULL;
  words++;
  fwrite(&image, sizeof image, 1, result);
}

/* Three words, because the padding of a long double may hold anything. */
void arrayfold_put_long_real(long double value)
{
  int exponent = 0;
  long double part = isfinite(value) ? frexpl(value, &exponent) : value;
  double high = (double)part;
  arrayfold_put_real(high);
  arrayfold_put_real(isfinite(value) ? (double)(part - high) : 0);
  arrayfold_put_integer(exponent);
}

void arrayfold_finish(void)
{
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, "VmHWM:", 6))
      fprintf(names ? names : stderr, "arrayfold-peak %s", line + 6);
  if (status)
    fclose(status);
  if (fflush(result) || (names && (fclose(names) || fclose(result))))
    arrayfold_fail("cannot write", "the results");
}
"""


def support_text(seed: int) -> str:
    """The support of a driver as a C file; all data come from the seed."""
    text = SUPPORT.replace("@SEED@", str(seed)).replace("@MISUSE@", str(MISUSE))
    return text.replace("@NO_MEMORY@", str(NO_MEMORY))
