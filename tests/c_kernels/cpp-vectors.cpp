// Containers of C++ as arrays: flat, nested, with constant sizes, and memory that a pointer owns.
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

void cpp_vectors(int n, int m, const std::vector<float> &in, std::vector<std::vector<double>> &out)
{
    std::vector<float> flat(n * m);
    std::vector<std::vector<float>> rows(n, std::vector<float>(m, 0.5f));
    std::array<double, 16> table;
    auto owned = std::make_unique<double[]>(n);
    std::unique_ptr<float[]> made(new float[static_cast<std::size_t>(m)]);
#pragma scop
    for (int y = 0; y < n; ++y) {
        owned[y] = y;
        for (int x = 0; x < m; ++x) {
            flat[y * m + x] = in[y * m + x];
            rows[y][x] = flat[y * m + x] * 2;
            table[x % 16] = rows[y][x];
            made[x] = flat[y * m + x];
            out[y][x] = table[x % 16] + made[x] + owned[y];
        }
    }
#pragma endscop
}
