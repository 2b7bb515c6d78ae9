// SPDX-License-Identifier: MIT
// The program of every consumer: the library compiles, links and runs.
#include <bpm/bpm.hpp>

#include <Eigen/Core>
#include <thread>

int main() {
  const Eigen::Vector2d ones = Eigen::Vector2d::Ones();
  double sum = 0.0;
  {
    const std::jthread adder([&] { sum = ones.sum(); });
  }
  return sum == 2.0 && bpm::version_major == BPM_VERSION_MAJOR ? 0 : 1;
}
