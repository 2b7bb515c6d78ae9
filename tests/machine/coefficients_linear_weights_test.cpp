// SPDX-License-Identifier: MIT
// Machines of a linear kernel: fits by w, and predictions by w.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"

using namespace machine_tests;
using bpm::FitSettings;
using bpm::Strategy;
using Sparse = bpm::SparseRowMatrix<double>;

namespace {

constexpr Eigen::Index row_count = 240;

/// Rows of three classes, 14 numbers of which most are zero.
Sparse sparse_rows(Eigen::Index m, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  Sparse rows(m, 14);
  for (Eigen::Index i = 0; i < m; ++i) {
    for (Eigen::Index k = 0; k < 14; ++k) {
      // No row is zero, whose outputs would be 0 for some coefficients, but for rounding.
      const double often = k == 13 ? 1 : k % 3 == i % 3 ? 0.6 : 0.2;
      if (bpm::uniform_unit(engine) < often) rows.insert(i, k) = bpm::uniform_unit(engine);
    }
  }
  return rows;
}

template <class Kernel>
auto machine(const Kernel& kernel, unsigned threads, std::optional<Strategy> strategy) {
  return bpm::OneVsRest(bpm::BayesPointMachine(kernel, bpm::PermutedPerceptron{.draws = 4},
                                               {.soft_boundary = bpm::SoftBoundary::relative(0.3),
                                                .threads = threads,
                                                .strategy = strategy,
                                                .keep_draws = true}));
}

/// sum_j alpha_jc k(x_j, x) / sqrt(k(x, x)) by kernel values.
template <class Fitted, class Queries>
Eigen::MatrixXd by_kernel_values(const Fitted& fitted, const Queries& queries,
                                 const bpm::RowMatrix<double>& coefficients) {
  Eigen::MatrixXd result(queries.rows(), coefficients.cols());
  fitted.visit_values(queries, "test",
                      [&](unsigned, std::ptrdiff_t begin, std::ptrdiff_t rows, const auto* values,
                          const auto* diagonal) {
                        for (std::ptrdiff_t r = 0; r < rows; ++r) {
                          Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(coefficients.cols());
                          for (Eigen::Index j = 0; j < coefficients.rows(); ++j) {
                            sum += static_cast<double>(values[r * coefficients.rows() + j]) *
                                   coefficients.row(j);
                          }
                          result.row(begin + r) = sum / std::sqrt(double(diagonal[r]));
                        }
                      });
  return result;
}

template <class Kernel, class I>
void check_machine(const Kernel& kernel, const I& inputs, const I& queries, double tolerance) {
  const std::vector<int> labels = three_labels(row_count);
  const auto fitted = machine(kernel, 1, {}).fit(inputs, labels);
  REQUIRE(fitted.forecast().strategy == Strategy::linear);
  CHECK(fitted.report().kernel_evaluations == 0);
  if (sizeof(bpm::detail::kernel_scalar_t<I>) == sizeof(double)) {
    // The same mistakes as by kernel values, which floats would round otherwise.
    const auto by_values = machine(kernel, 1, Strategy::dense).fit(inputs, labels);
    CHECK(by_values.forecast().strategy == Strategy::dense);
    CHECK(fitted.report().perceptron->mistakes == by_values.report().perceptron->mistakes);
    CHECK(fitted.support() == by_values.support());
    CHECK((fitted.coefficients() - by_values.coefficients()).cwiseAbs().maxCoeff() < tolerance);
    CHECK((fitted.decision_values(queries) - by_values.decision_values(queries))
              .cwiseAbs()
              .maxCoeff() < tolerance);
  }
  const Eigen::MatrixXd values = fitted.decision_values(queries);
  CHECK((values - by_kernel_values(fitted, queries, fitted.coefficients())).cwiseAbs().maxCoeff() <
        tolerance);
  CHECK((fitted.draw_decision_values(queries) -
         by_kernel_values(fitted, queries, fitted.parts().draw_coefficients))
            .cwiseAbs()
            .maxCoeff() < tolerance);
  // Any number of threads and inputs, and draws in two parts: the same bits.
  auto training = machine(kernel, 3, {}).train(inputs, labels);
  training.add_draws(2);
  const auto longer =
      bpm::OneVsRest(bpm::BayesPointMachine(kernel, bpm::PermutedPerceptron{.draws = 6},
                                            {.soft_boundary = bpm::SoftBoundary::relative(0.3)}))
          .fit(inputs, labels);
  CHECK(training.classifier().coefficients() == longer.coefficients());
  const auto on_threads = machine(kernel, 3, {}).fit(inputs, labels);
  CHECK(on_threads.coefficients() == fitted.coefficients());
  CHECK(on_threads.decision_values(queries) == values);
  const I one = queries.middleRows(7, 1);
  CHECK(on_threads.decision_values(one) == values.row(7));
}

}  // namespace

TEST_CASE("machines of a linear kernel keep w, and say what kernel values say") {
  const Sparse sparse = sparse_rows(row_count, 1);
  const Sparse others = sparse_rows(700, 2);
  const Doubles dense(sparse);
  const Doubles dense_others(others);
  check_machine(bpm::Linear{}, sparse, others, 1e-12);
  check_machine(bpm::RuntimeKernel(bpm::biased(bpm::Linear{}, 1)), sparse, others, 1e-12);
  check_machine(bpm::scaled(bpm::Linear{}, 3), dense, dense_others, 1e-12);
  using Floats = bpm::RowMatrix<float>;
  check_machine(bpm::Linear{}, Floats(dense.cast<float>()), Floats(dense_others.cast<float>()),
                1e-6);
  using Bytes = bpm::RowMatrix<std::uint8_t>;
  check_machine(bpm::Linear{}, Bytes((100 * dense).cast<std::uint8_t>()),
                Bytes((100 * dense_others).cast<std::uint8_t>()), 1e-6);
}

TEST_CASE("w of bytes is asked about numbers, and of numbers about bytes") {
  using Floats = bpm::RowMatrix<float>;
  using Bytes = bpm::RowMatrix<std::uint8_t>;
  const Bytes bytes = (100 * Doubles(sparse_rows(row_count, 1))).cast<std::uint8_t>();
  const Floats floats = bytes.cast<float>();
  const std::vector<int> labels = three_labels(row_count);
  const auto of_bytes = machine(bpm::Linear{}, 1, {}).fit(bytes, labels);
  const auto of_floats = machine(bpm::Linear{}, 1, {}).fit(floats, labels);
  const Eigen::MatrixXd expected = of_bytes.decision_values(bytes);
  CHECK(of_floats.decision_values(floats) == expected);
  CHECK(of_bytes.decision_values(floats) == expected);
  CHECK(of_floats.decision_values(bytes) == expected);
}

TEST_CASE("a support that lies elsewhere is read for w, and refused where it is not finite") {
  const Doubles inputs = triangle(row_count, 1);
  const auto fitted = machine(bpm::Linear{}, 1, {}).fit(inputs, three_labels(row_count));
  Doubles support = fitted.parts().inputs;
  using View = Eigen::Map<const Doubles>;
  const auto on_view = [&] {
    return bpm::Classifier(bpm::ClassifierParts<bpm::Linear, View>{
        .kernel = {},
        .inputs = View(support.data(), support.rows(), support.cols()),
        .support = fitted.support(),
        .coefficients = fitted.coefficients(),
        .classes = fitted.classes(),
        .bias = fitted.parts().bias});
  };
  CHECK(on_view().decision_values(inputs) == fitted.decision_values(inputs));
  support(support.rows() - 1, 1) = std::nan("");
  const auto broken = on_view();
  for (int time = 0; time < 2; ++time) {
    CHECK_THROWS_WITH(broken.decision_values(inputs),
                      Catch::Matchers::ContainsSubstring("must be finite"));
  }
}

TEST_CASE("few points of many features, and many classifiers, are asked by kernel values") {
  const bpm::ClassifierParts<bpm::Linear, Doubles> parts{
      .kernel = {},
      .inputs = Doubles::Identity(2, 5),
      .support = {0, 1},
      .coefficients = Doubles::Constant(2, 40, 0.25),
      .classes = bpm::detail::first_points(40)};
  const bpm::Classifier classifier(parts);
  const Doubles expected = Doubles::Constant(1, 40, 0.5 / std::sqrt(2.0));
  Doubles query = Doubles::Zero(1, 5);
  query(0, 0) = query(0, 1) = 1;
  CHECK(classifier.decision_values(query).isApprox(expected, 1e-15));
}
