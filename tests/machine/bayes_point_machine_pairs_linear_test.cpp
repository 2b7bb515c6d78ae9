// SPDX-License-Identifier: MIT
// A biased linear kernel with every sampler.
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/dot_product.hpp"
#include "pair_checks.hpp"

namespace {

using namespace machine_tests;

struct BiasedLinearCase {
  static auto kernel() { return bpm::biased(bpm::Linear{}, 1.0); }
  static Doubles training() { return triangle(training_size, 1); }
  static Doubles held_out() { return triangle(held_out_size, 2); }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A biased linear kernel and every sampler: two classes", "[machine]",
                        machine_tests::AllSamplers) {
  check_two_classes<BiasedLinearCase, TestType>();
}

TEMPLATE_LIST_TEST_CASE("A biased linear kernel and every sampler: one against the rest",
                        "[machine]", machine_tests::AllSamplers) {
  check_one_vs_rest<BiasedLinearCase, TestType>();
}
