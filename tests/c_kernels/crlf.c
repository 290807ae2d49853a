/* Änderungen der Größe: Σ über α, “quoted”, 漢字 — all before the region, and lines that end as on Windows. */
void crlf(int n, double a[n], double b[n]) // ñ
{
    double s = 0; /* é */
#pragma scop
    for (int i = 0; i < n; i++) /* ü */
        s += a[i] \
             * b[i];
#pragma omp parallel for \
    schedule(static) \
    firstprivate(s)
    for (int i = 0; i < n; i++)
        b[i] = s;
#pragma endscop
}
