// #pragma scop (not this one) /*
/* nor this:
#pragma scop
*/
static const char *const text = "#pragma scop /* \" not this either";

void comments(int n, double a[/* rows */ n], double b[n]) // the kernel
{
    (void) text;
    /* here */ #pragma /* it */ scop // begins
    for /* every */ (int i /* := */ = 0 /* ; */; i < /* <= */ n; /* i-- */ i++ /* ) */) // {
    { /* } */
        a[/* [ */ i] /* += */ = /* a[i] */ b[ // [i + 1]
            i /* ] */];                       // a[i] = 0;
        /* b[i] = 7; */ b[i] /= /* 0 // */ 2;
    } // }
    /* #pragma endscop */
#pragma endscop /* ends
    here */
}
