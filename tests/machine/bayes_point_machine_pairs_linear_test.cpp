// SPDX-License-Identifier: MIT
// A biased linear kernel, with every sampler where all pairs are tested.
#include "bpm/kernels/compose.hpp"

#include "bpm/kernels/vector_kernels.hpp"
#include "pair_checks.hpp"

namespace {

using namespace machine_tests;

struct BiasedLinearCase {
  static auto kernel() { return bpm::biased(bpm::Linear{}, 1.0); }
  static Doubles training() { return triangle(training_size, 1); }
  static Doubles held_out() { return triangle(held_out_size, 2); }
};

}  // namespace

TEST_CASE("A biased linear kernel: two classes", "[machine]") {
  check_two_classes<BiasedLinearCase, bpm::PermutedPerceptron>();
}

TEST_CASE("A biased linear kernel: one against the rest", "[machine]") {
  check_one_vs_rest<BiasedLinearCase, bpm::PermutedPerceptron>();
}
