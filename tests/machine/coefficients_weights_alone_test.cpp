// SPDX-License-Identifier: MIT
// Classifiers of linear kernels as weights: the same outputs, one row per column.
#include "bpm/machine/coefficients.hpp"

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/radial.hpp"
#include "bpm/kernels/runtime_kernel.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "catch.hpp"
#include "message_of.hpp"

namespace {

/// Three classes of normal rows, two thirds of whose numbers are zero.
struct SparseKinds {
  bpm::RowMatrix<double> rows{90, 12};
  std::vector<int> labels;

  SparseKinds() {
    bpm::RandomEngine engine(7);
    bpm::NormalDraws normal;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      for (double& value : rows.row(i)) {
        value = bpm::uniform_below(engine, 3U) == 0 ? normal(engine) : 0;
      }
      labels.push_back(static_cast<int>(i % 3));
      rows(i, i % 3) += 5;
    }
  }
};

/// Fits, takes the weights alone, and asks both.
template <class Kernel, class I>
void check_weights_alone(const Kernel& kernel, const I& inputs, const std::vector<int>& labels,
                         const bpm::FitSettings& settings, std::ptrdiff_t rows) {
  const bpm::OneVsRest machine(
      bpm::BayesPointMachine(kernel, bpm::PermutedPerceptron{.draws = 3}, settings));
  const auto fitted = machine.fit(inputs, labels);
  const auto weights = fitted.with_weights_alone();
  CHECK(weights.parts().inputs.rows() == rows);
  CHECK(weights.parts().support.size() == static_cast<std::size_t>(rows));
  const auto queries = [&] {
    if constexpr (bpm::SparseInputs<I>) {
      return bpm::SparseRowMatrix<double>(inputs.template cast<double>());
    } else {
      return bpm::RowMatrix<double>(inputs.template cast<double>());
    }
  }();
  const Eigen::MatrixXd expected = fitted.decision_values(inputs);
  const Eigen::MatrixXd found = weights.decision_values(queries);
  CHECK((found - expected).cwiseAbs().maxCoeff() <= 1e-6 * expected.cwiseAbs().maxCoeff());
  if constexpr (std::same_as<typename I::Scalar, double>) {
    CHECK((found - expected).cwiseAbs().maxCoeff() <= 1e-12 * expected.cwiseAbs().maxCoeff());
  }
  CHECK(weights.predict(queries) == fitted.predict(inputs));
  CHECK(weights.parts().slope == fitted.parts().slope);
  CHECK(weights.parts().chosen == settings.chosen);
  CHECK(weights.parts().offsets == fitted.parts().offsets);
}

}  // namespace

TEST_CASE("Weights alone: the same outputs of any numbers, with a bias and without", "[machine]") {
  const SparseKinds data;
  const bpm::FitSettings automatic{.chosen = true};
  const bpm::FitSettings hard{.soft_boundary = bpm::SoftBoundary::hard(), .bias = 0};
  check_weights_alone(bpm::Linear{}, data.rows, data.labels, hard, 3);
  check_weights_alone(bpm::Linear{}, data.rows, data.labels, automatic, 4);
  check_weights_alone(bpm::biased(bpm::scaled(bpm::Linear{}, 0.5), 2.0), data.rows, data.labels,
                      hard, 4);
  check_weights_alone(bpm::RuntimeKernel(bpm::Linear{}), data.rows, data.labels, automatic, 4);
  check_weights_alone(bpm::Linear{}, bpm::RowMatrix<float>(data.rows.cast<float>()), data.labels,
                      automatic, 4);
  check_weights_alone(bpm::Linear{}, bpm::SparseRowMatrix<double>(data.rows.sparseView()),
                      data.labels, automatic, 4);
  const bpm::RowMatrix<std::uint8_t> bytes =
      (20 * data.rows.array().abs()).round().cast<std::uint8_t>();
  check_weights_alone(bpm::Linear{}, bytes, data.labels, automatic, 4);
}

TEST_CASE("Weights alone: of two classes one row, and w is the sum of the support's rows",
          "[machine]") {
  bpm::RowMatrix<double> rows(3, 2);
  rows << 1, 2, -1, 1, 0, -3;
  bpm::RowMatrix<double> coefficients(3, 1);
  coefficients << 0.5, -2, 1;
  const bpm::Classifier<bpm::Linear, bpm::RowMatrix<double>> classifier(
      {.kernel = {},
       .inputs = rows,
       .support = {2, 5, 9},
       .coefficients = coefficients,
       .classes = {-1, 1},
       .bias = 0.25});
  const auto weights = classifier.with_weights_alone();
  REQUIRE(weights.parts().inputs.rows() == 2);
  CHECK(weights.parts().inputs(0, 0) == 2.5);   // 0.5 + 2
  CHECK(weights.parts().inputs(0, 1) == -4.0);  // 1 - 2 - 3
  CHECK(weights.parts().inputs.row(1).isZero());
  CHECK(weights.coefficients()(0, 0) == 1);
  CHECK(weights.coefficients()(1, 0) == -1.5);  // 0.5 - 2 + 1 - 1
}

TEST_CASE("Weights alone: other kernels are refused", "[machine]") {
  const SparseKinds data;
  const auto refused = [&](const bpm::RuntimeKernel& kernel, const char* why) {
    const bpm::OneVsRest machine(
        bpm::BayesPointMachine(kernel, bpm::PermutedPerceptron{.draws = 1}, {}));
    const auto fitted = machine.fit(data.rows, data.labels);
    CHECK_THAT(test_support::message_of([&] { static_cast<void>(fitted.with_weights_alone()); }),
               Catch::Matchers::ContainsSubstring(why));
  };
  refused(bpm::Gaussian::from_width(3),
          "kernel is not linear: its classifiers are no weights of features");
  refused(bpm::on_unit_inputs(bpm::RuntimeKernel(bpm::Linear{})),
          "kernel scales inputs to norm 1, must take them as they are; scale them beforehand");
  // A kernel that can never be linear has no such function.
  using Curved = bpm::Classifier<bpm::Gaussian, bpm::RowMatrix<double>>;
  CHECK_FALSE(([]<class C>(const C*) {
    return requires(const C& c) { c.with_weights_alone(); };
  }(static_cast<const Curved*>(nullptr))));
}
