// SPDX-License-Identifier: MIT
// Probabilities on other kinds of inputs: float, sparse, and types of the user's own.
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "bpm/gaussian_process/expectation_propagation/machine.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "catch.hpp"
#include "data_sets.hpp"
#include "hard.hpp"

using namespace machine_tests;
using bpm::ExpectationPropagation;

TEST_CASE("EP on float and on sparse inputs: as on double") {
  const Doubles inputs = triangle(60, 1);
  const Doubles held_out = triangle(40, 2, 0.6);
  const std::vector<int> labels = two_labels(60);
  const bpm::BayesPointMachine machine(
      bpm::Polynomial(3), ExpectationPropagation{.noise_deviation = 0.5}, test_support::hard());
  const auto by_double = machine.fit(inputs, labels);
  const bpm::EpPosterior::Prediction expected = by_double.latent(held_out);
  // Ten dimensions: a polynomial of third degree in two inputs.
  CHECK(by_double.support().size() == 10);
  const auto check = [&](const bpm::EpPosterior::Prediction& found, double log_evidence) {
    CHECK(log_evidence == Approx(by_double.log_evidence()).epsilon(1e-4));
    for (Eigen::Index i = 0; i < 40; ++i) {
      CHECK(found.mean[i] == Approx(expected.mean[i]).epsilon(1e-2).margin(1e-2));
      CHECK(found.variance[i] == Approx(expected.variance[i]).epsilon(1e-2).margin(1e-2));
      CHECK(found.probability[i] == Approx(expected.probability[i]).margin(5e-3));
    }
  };
  const bpm::RowMatrix<float> floats = inputs.cast<float>();
  const auto by_float = machine.fit(floats, labels);
  check(by_float.latent(bpm::RowMatrix<float>(held_out.cast<float>())), by_float.log_evidence());
  const bpm::SparseRowMatrix<double> sparse = inputs.sparseView();
  const auto by_sparse = machine.fit(sparse, labels);
  check(by_sparse.latent(bpm::SparseRowMatrix<double>(held_out.sparseView())),
        by_sparse.log_evidence());
}

TEST_CASE("EP on words: units are those of the kernel") {
  const std::vector<std::string> training = words(60, 1);
  const std::vector<std::string> held_out = words(50, 2);
  const std::vector<int> labels = two_labels(60);
  const auto fitted =
      bpm::BayesPointMachine(CommonPairs{}, ExpectationPropagation{}, test_support::hard())
          .fit(training, labels);
  const bpm::EpPosterior::Prediction latent = fitted.latent(held_out);
  const Eigen::VectorXd values = fitted.decision_values(held_out);
  const double chi = bpm::detail::mean_chi(fitted.posterior().rank());
  double right = 0;
  for (std::size_t i = 0; i < held_out.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const double self = CommonPairs{}(held_out[i], held_out[i]);
    CHECK(latent.mean[k] == Approx(chi * values[k] * std::sqrt(self)).epsilon(1e-10));
    CHECK(latent.variance[k] > 0);
    CHECK(latent.variance[k] < self);
    CHECK((latent.probability[k] > 0.5) == (values[k] > 0));
    right += (latent.probability[k] > 0.5) == (class_of(static_cast<std::ptrdiff_t>(i)) != -3);
  }
  CHECK(right >= 45);
}
