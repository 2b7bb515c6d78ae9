// SPDX-License-Identifier: MIT
#include <bpm/gaussian_process/selection/nlopt_search.hpp>

#include <vector>

int main() {
  const auto score = [](const std::vector<double>& p) { return -(p[0] - 1) * (p[0] - 1); };
  const double best = bpm::nlopt_search(score, {0}, {.lower = {-2}, .upper = {2}}).best[0];
  return best > 0.9 && best < 1.1 ? 0 : 1;
}
