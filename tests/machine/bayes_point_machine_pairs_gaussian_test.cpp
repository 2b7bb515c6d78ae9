// SPDX-License-Identifier: MIT
// A Gaussian kernel on sparse inputs, with every sampler where all pairs are tested.
#include "bpm/kernels/vector_kernels.hpp"
#include "pair_checks.hpp"

namespace {

using namespace machine_tests;

struct SparseGaussianCase {
  static auto kernel() { return bpm::Gaussian::from_sigma(0.7); }
  static bpm::SparseRowMatrix<double> training() { return triangle(training_size, 1).sparseView(); }
  static bpm::SparseRowMatrix<double> held_out() { return triangle(held_out_size, 2).sparseView(); }
};

}  // namespace

TEST_CASE("A Gaussian kernel on sparse inputs: two classes", "[machine]") {
  check_two_classes<SparseGaussianCase, bpm::PermutedPerceptron>();
}

TEST_CASE("A Gaussian kernel on sparse inputs: one against the rest", "[machine]") {
  check_one_vs_rest<SparseGaussianCase, bpm::PermutedPerceptron>();
}
