// References, auto, constants, casts, functions of the standard library, a namespace, an instance of a template.
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace filters {

constexpr int reach = 2;

template <typename T> constexpr T doubled(T value) { return value + value; }

void cpp_values(int n, const float *in, float *__restrict out, const float &weight, float &sum, const bool twice)
{
    float t[512];
    const auto last = n - 1;
#pragma scop
    for (auto i = 0; i < n; ++i) {
        t[i] = in[std::clamp(i - reach, 0, last)] * weight;
        auto u = std::abs(t[std::max(i - 1, 0)]) + static_cast<float>(std::min(i, 3)) + float(doubled(i));
        out[i] = twice == true ? std::sqrt(u) : u;
        sum += std::min(u, 1.0f);
    }
#pragma endscop
}

} // namespace filters
