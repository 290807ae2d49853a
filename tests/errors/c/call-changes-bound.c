extern int rows;
void step(void);

void f(double A[100])
{
#pragma scop
  for (int i = 0; i < rows; i++) {
    step();
    A[i] = 0;
  }
#pragma endscop
}
