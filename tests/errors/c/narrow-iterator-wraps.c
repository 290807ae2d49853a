void f(int out[256])
{
#pragma scop
  for (unsigned char i = 0; i != 16; i += 65)
    out[i] = 1;
#pragma endscop
}
