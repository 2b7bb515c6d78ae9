// SPDX-License-Identifier: MIT
// A kernel matrix that the user brings, with every sampler where all pairs are tested.
#include "pair_checks.hpp"

namespace {

using namespace machine_tests;

struct PrecomputedCase {
  static auto kernel() { return bpm::PrecomputedKernel{}; }
  /// (<x, z> + 1)^2
  static Doubles values(const Doubles& x, const Doubles& z) {
    return ((x * z.transpose()).array() + 1).square();
  }
  static Doubles training() {
    return values(triangle(training_size, 1), triangle(training_size, 1));
  }
  static Doubles held_out() {
    return values(triangle(held_out_size, 2), triangle(training_size, 1));
  }
};

}  // namespace

TEST_CASE("A kernel matrix that the user brings: two classes", "[machine]") {
  check_two_classes<PrecomputedCase, bpm::PermutedPerceptron>();
}

TEST_CASE("A kernel matrix that the user brings: one against the rest", "[machine]") {
  check_one_vs_rest<PrecomputedCase, bpm::PermutedPerceptron>();
}
