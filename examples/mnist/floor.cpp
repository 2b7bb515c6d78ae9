// SPDX-License-Identifier: MIT
#include "floor.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace bpm_examples {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

double float_product_rate(int threads) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic>;
  constexpr Eigen::Index n = 1536;
  constexpr int rounds = 8;
  constexpr double operations = 2.0 * n * n * n;
  std::vector<double> best(static_cast<std::size_t>(threads), 0.0);
  std::atomic<int> ready{0};
  const auto work = [&](int thread) {
    const Matrix a = Matrix::Random(n, n);
    const Matrix b = Matrix::Random(n, n);
    Matrix c = Matrix::Zero(n, n);
    ++ready;
    while (ready < threads) std::this_thread::yield();
    for (int round = 0; round < rounds; ++round) {
      const double start = now();
      c.noalias() = a * b;
      double& rate = best[static_cast<std::size_t>(thread)];
      rate = std::max(rate, operations / (now() - start));
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int t = 1; t < threads; ++t) pool.emplace_back(work, t);
    work(0);
  }
  double sum = 0;
  for (const double rate : best) sum += rate;
  return sum;
}

}  // namespace bpm_examples
