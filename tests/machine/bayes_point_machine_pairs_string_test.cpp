// SPDX-License-Identifier: MIT
// A kernel on strings, with every sampler where all pairs are tested.
#include <string>
#include <vector>

#include "pair_checks.hpp"

namespace {

using namespace machine_tests;

struct StringCase {
  static auto kernel() { return CommonPairs{}; }
  static std::vector<std::string> training() { return words(training_size, 1); }
  static std::vector<std::string> held_out() { return words(held_out_size, 2); }
};

}  // namespace

TEST_CASE("A kernel on strings: two classes", "[machine]") {
  check_two_classes<StringCase, bpm::PermutedPerceptron>();
}

TEST_CASE("A kernel on strings: one against the rest", "[machine]") {
  check_one_vs_rest<StringCase, bpm::PermutedPerceptron>();
}
