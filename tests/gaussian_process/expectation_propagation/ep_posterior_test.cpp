// SPDX-License-Identifier: MIT
// What the posterior tells of new inputs, and small formulas.
#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "catch.hpp"
#include "law.hpp"

using namespace law_tests;
using Catch::Matchers::Equals;

TEST_CASE("the probability of a positive label") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(bpm::detail::positive_probability(0.3, 0.16, 0.3) == Approx(0.7257468822).epsilon(1e-9));
  CHECK(bpm::detail::positive_probability(2, 0, 0) == 1);
  CHECK(bpm::detail::positive_probability(-2, 0, 0) == 0);
  CHECK(bpm::detail::positive_probability(0, 0, 0) == 0.5);
  CHECK(bpm::detail::log_positive_probability(0.3, 0.16, 0.3) ==
        Approx(std::log(0.7257468822)).epsilon(1e-9));
  CHECK(bpm::detail::log_positive_probability(2, 0, 0) == 0);
  CHECK(bpm::detail::log_positive_probability(-2, 0, 0) == -1e300);
  CHECK(bpm::detail::log_positive_probability(-inf, 1, 0) == -1e300);
  CHECK(bpm::detail::log_positive_probability(0, 0, 0) == std::log(0.5));
}

TEST_CASE("a training point predicted anew has the moments that it has") {
  const Kernel inputs = tilted_inputs(30, 6, 0.3, 4);
  const Kernel kernel = linear_kernel(inputs);
  Labels labels;
  for (Eigen::Index i = 0; i < 30; ++i) labels.push_back(inputs(i, 0) > 0 ? 1 : -1);
  for (const double noise : {0.0, 0.8}) {
    const auto p =
        bpm::expectation_propagation(cone_of_kernel(kernel, labels), {.noise_deviation = noise});
    REQUIRE(p.rank() == 6);
    Eigen::MatrixXd values(6, 30);
    for (Eigen::Index k = 0; k < 6; ++k) {
      values.row(k) = kernel.row(p.pivots[static_cast<std::size_t>(k)]);
    }
    const bpm::EpPosterior::Prediction found = p.predict(values, kernel.diagonal());
    CHECK(p.latent_variance(values, kernel.diagonal()) == found.variance);
    double norm = 0;
    for (std::size_t i = 0; i < 30; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      CHECK(found.mean[k] == Approx(p.centre_values()[i]).epsilon(1e-8));
      CHECK(found.variance[k] == Approx(p.variances[i]).epsilon(1e-8));
      CHECK(found.probability[k] ==
            bpm::detail::positive_probability(found.mean[k], found.variance[k], noise));
      norm += p.coefficients[i] * p.centre_values()[i];
    }
    CHECK(norm == Approx(inner(p.mean, p.mean)).epsilon(1e-9));
    const bpm::CentreOfMass centre = p.centre_of_mass();
    CHECK(centre.norm == Approx(std::sqrt(norm) / bpm::detail::mean_chi(6)).epsilon(1e-12));
    CHECK(centre.outputs[3] ==
          Approx(p.centre_values()[3] / bpm::detail::mean_chi(6)).epsilon(1e-12));
    CHECK(inner(centre.coefficients, centre.outputs) ==
          Approx(centre.norm * centre.norm).epsilon(1e-9));

    const Eigen::MatrixXd few = values.topRows(5);
    CHECK_THROWS_WITH(p.predict(few, kernel.diagonal()),
                      Equals("EpPosterior::predict: values has 5 entries, expected 6 (rows: one "
                             "per pivot)"));
    CHECK_THROWS_WITH(p.latent_variance(values, Eigen::VectorXd(2)),
                      Equals("EpPosterior::latent_variance: diagonal has 2 entries, expected 30 "
                             "(one per input)"));
  }
}
