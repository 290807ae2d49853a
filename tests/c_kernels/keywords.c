/* Parameters, arrays and scalars that are words of isl. */
double rat;

void keywords(int max, int mod, double exists[max], double floor_[max][mod], double and[mod])
{
#pragma scop
    rat = 0;
    for (int i = 0; i < max; i++) {
        exists[i] = 0;
        for (int j = 0; j < mod; j++)
            exists[i] += floor_[i][j] * and[j];
        rat += exists[i];
    }
#pragma endscop
}
