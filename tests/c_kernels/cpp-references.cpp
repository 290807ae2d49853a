// References to rows and elements are other names for them.
#include <vector>

void names(int n, const std::vector<std::vector<double>> &a, std::vector<std::vector<double>> &b)
{
    std::vector<std::vector<double>> t(n, std::vector<double>(n));
#pragma scop
    for (int i = 0; i < n; i++) {
        const auto &row = a[i];
        auto &to = t[i];
        for (int j = 0; j < n; j++)
            to[j] = row[j];
    }
    for (int i = 1; i < n; i++)
        for (int j = 0; j < n; j++) {
            double &value = b[i][j];
            value = t[i - 1][j];
            value += t[i][j];
        }
#pragma endscop
}
