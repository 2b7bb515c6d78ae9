// SPDX-License-Identifier: MIT
// The program of every consumer: the library compiles, links and runs. (The whole of it takes ten
// seconds to include, which one consumer does: installed/everything.cpp.)
#include <bpm/core/points.hpp>
#include <bpm/version.hpp>
#include <thread>

int main() {
  const bpm::RowMatrix<double> ones = bpm::RowMatrix<double>::Ones(1, 2);
  double sum = 0.0;
  {
    const std::jthread adder([&] { sum = ones.sum(); });
  }
  return sum == 2.0 && bpm::version_major == BPM_VERSION_MAJOR ? 0 : 1;
}
