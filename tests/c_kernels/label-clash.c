/* A label that is the name which the second statement would get. */
void label_clash(int n, double a[n], double b[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
    S_1:
        a[i] = 0;
        b[i] = a[i];
    }
#pragma endscop
}
