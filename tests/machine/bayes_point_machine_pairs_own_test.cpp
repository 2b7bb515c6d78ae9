// SPDX-License-Identifier: MIT
// A kernel of the user's own, with every sampler where all pairs are tested.
#include "pair_checks.hpp"

namespace {

using namespace machine_tests;

struct OwnKernelCase {
  // A lambda on pairs of rows, with something captured.
  static auto kernel() {
    return
        [width = 0.5](const auto& x, const auto& z) { return 1 / (width + (x - z).squaredNorm()); };
  }
  static Doubles training() { return triangle(training_size, 1); }
  static Doubles held_out() { return triangle(held_out_size, 2); }
};

}  // namespace

TEST_CASE("A kernel of the user's own: two classes", "[machine]") {
  check_two_classes<OwnKernelCase, bpm::PermutedPerceptron>();
}

TEST_CASE("A kernel of the user's own: one against the rest", "[machine]") {
  check_one_vs_rest<OwnKernelCase, bpm::PermutedPerceptron>();
}
