/* Sizes and iterators without sign, and differences of them. */
#include <stddef.h>
#include <stdint.h>

void stencil(size_t n, unsigned steps, double A[n], double B[n])
{
#pragma scop
    for (unsigned t = 0; t < steps; t++) {
        for (size_t i = 1; i < n - 1; i++)
            B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3;
        for (size_t i = n - 2; i >= 1; i--)
            A[i] = B[i];
        for (uint32_t i = 0; i + 1 < n; i += 2)
            A[n - 1 - i] += 1;
    }
    for (int i = (int) n - 1; i >= 0; i--)
        B[i] = A[(size_t) i];
    for (ptrdiff_t i = 0; i < (ptrdiff_t) n / 2; ++i)
        if (i % 2u == 0)
            A[i] = B[n - (size_t) i - 1];
#pragma endscop
}
