// SPDX-License-Identifier: MIT
// A polynomial kernel, in float, with every sampler.
#include "bpm/kernels/vector_kernels.hpp"
#include "pair_checks.hpp"

namespace {

using namespace machine_tests;

struct FloatPolynomialCase {
  static auto kernel() { return bpm::Polynomial(3); }
  static bpm::RowMatrix<float> training() { return triangle(training_size, 1).cast<float>(); }
  static bpm::RowMatrix<float> held_out() { return triangle(held_out_size, 2).cast<float>(); }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A polynomial kernel, in float, and every sampler: two classes",
                        "[machine]", machine_tests::AllSamplers) {
  check_two_classes<FloatPolynomialCase, TestType>();
}

TEMPLATE_LIST_TEST_CASE("A polynomial kernel, in float, and every sampler: one against the rest",
                        "[machine]", machine_tests::AllSamplers) {
  check_one_vs_rest<FloatPolynomialCase, TestType>();
}
