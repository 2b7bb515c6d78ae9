// SPDX-License-Identifier: MIT
// Strings, a callable of the user's own, floats.
#include <Eigen/Core>
#include <string>
#include <vector>

#include "bpm/gaussian_process/interpolation/kernel_interpolator.hpp"
#include "bpm/kernels/radial.hpp"
#include "catch.hpp"
#include "interpolation_problems.hpp"

using namespace interpolation_tests;

TEST_CASE("strings, a callable of the user's own, and floats") {
  const auto common = [](const std::string& a, const std::string& b) {
    double sum = 0.5 * (a == b ? 1 : 0);
    for (std::size_t k = 0; k < std::min(a.size(), b.size()) && a[k] == b[k]; ++k) sum += 1;
    return sum;
  };
  const std::vector<std::string> words{"tea", "ten", "to", "inn", "in", "i"};
  const ClassLabels sides{1, 1, 1, 0, 0, 0};
  const auto by_words = bpm::KernelInterpolator(common).train(words, sides);
  CHECK(largest(by_words.classifier().decision_values(words) - by_words.values()) < 1e-12);
  CHECK(by_words.classifier().predict(std::vector<std::string>{"team", "inner"}) ==
        ClassLabels{1, 0});

  const Inputs x = random_inputs(30, 2, 6);
  const Inputs z = random_inputs(7, 2, 7);
  const ClassLabels labels = random_labels(x, 2, 6);
  using Floats = bpm::RowMatrix<float>;
  const auto by_floats = bpm::KernelInterpolator(unit_gaussian, {.noise_variance = 0.01})
                             .train(Floats(x.cast<float>()), labels);
  const auto by_doubles =
      bpm::KernelInterpolator(unit_gaussian, {.noise_variance = 0.01}).train(x, labels);
  CHECK(largest(by_floats.classifier().decision_values(Floats(z.cast<float>())) -
                by_doubles.classifier().decision_values(z)) < 1e-4);
}
