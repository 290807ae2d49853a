// Blur of an image with clamped borders, rows first. The rows are blurred into a vector as large as the image, of
// which three rows are needed.

#include <algorithm>
#include <vector>

void blur(int width, int height, const std::vector<float> &in, std::vector<float> &out)
{
    std::vector<float> rows(width * height);
    constexpr float third = 1.0f / 3;

#pragma scop
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x)
            rows[y * width + x] = (in[y * width + std::max(x - 1, 0)] + in[y * width + x] +
                                   in[y * width + std::min(x + 1, width - 1)]) *
                                  third;
        if (y >= 2)
            for (int x = 0; x < width; ++x)
                out[(y - 1) * width + x] =
                    (rows[(y - 2) * width + x] + rows[(y - 1) * width + x] + rows[y * width + x]) * third;
    }
#pragma endscop
}
