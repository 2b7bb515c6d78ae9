// SPDX-License-Identifier: MIT
// What a unit of Eigen and the standard library alone costs to compile: the unit in which budget.sh
// gives the time of the tests. It includes no header of ours, so that it costs the same whatever
// ours become; do not change it.
#include <Eigen/Cholesky>
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

std::map<std::string, std::vector<double>> columns(const std::vector<std::string>& words) {
  std::map<std::string, std::vector<double>> found;
  std::unordered_map<std::string, int> counts;
  for (const std::string& word : words) found[word].push_back(++counts[word]);
  for (auto& [word, values] : found) std::ranges::sort(values, std::greater<>());
  return found;
}

double solve(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  return a.llt().solve(b).sum() + a.ldlt().solve(b).squaredNorm();
}
