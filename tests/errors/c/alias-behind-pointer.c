float *given(void);
void f(int n, float to[restrict n]) {
  float *rows = given();
  float *mine = rows;
#pragma scop
  for (int i = 0; i < n; i++)
    to[i] = mine[i];
#pragma endscop
}
