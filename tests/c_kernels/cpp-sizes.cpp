// Sizes of containers as bounds, and memory from new, which stays.
#include <cstddef>
#include <vector>

void scaled(int n, const std::vector<float> &in, std::vector<float> &out)
{
    std::vector<float> t(n);
    float *u = new float[n];
#pragma scop
    for (std::size_t i = 0; i < t.size(); ++i)
        t[i] = in[i];
    for (std::size_t i = 0; i < t.size(); ++i)
        u[i] = t[i];
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = u[i];
#pragma endscop
    delete[] u;
}
