// SPDX-License-Identifier: MIT
// What the posterior tells of new inputs, and small formulas.
#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/LU>
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

TEST_CASE("the relative entropy of two posteriors is that of their Gaussian laws, dense") {
  // Of full rank, and of a rank below the number of points.
  const Eigen::Index rank = GENERATE(12, 5);
  const double noise = GENERATE(0.0, 0.7);
  const Kernel inputs = tilted_inputs(12, rank, 0.3, 7);
  const Kernel kernel = linear_kernel(inputs);
  Labels labels;
  for (Eigen::Index i = 0; i < 12; ++i) labels.push_back(inputs(i, 0) > 0 ? 1 : -1);
  const auto posterior = [&](Eigen::Index n) {
    return bpm::expectation_propagation(
        cone_of_kernel(kernel.topLeftCorner(n, n), Labels(labels.begin(), labels.begin() + n)),
        {.noise_deviation = noise});
  };
  const bpm::EpPosterior q = posterior(12);
  // In weights: precision I + sum tau x x', shift sum nu y x.
  struct Law {
    Eigen::MatrixXd precision;
    Eigen::VectorXd mean;
  };
  const auto law = [&](const bpm::EpPosterior& p) {
    Law result{Eigen::MatrixXd::Identity(rank, rank), Eigen::VectorXd::Zero(rank)};
    for (std::size_t i = 0; i < p.outputs.size(); ++i) {
      const Eigen::VectorXd x = inputs.row(static_cast<Eigen::Index>(i)).transpose();
      result.precision += p.site_precision[i] * x * x.transpose();
      result.mean += p.site_shift[i] * p.signs[i] * x;
    }
    result.mean = result.precision.llt().solve(result.mean).eval();
    return result;
  };
  const Law of_q = law(q);
  for (const Eigen::Index first : {1, 5, 11}) {
    const bpm::EpPosterior p = posterior(first);
    const Law of_p = law(p);
    const Eigen::VectorXd apart = of_p.mean - of_q.mean;
    const double dense =
        0.5 * ((of_p.precision * of_q.precision.inverse()).trace() - static_cast<double>(rank) +
               apart.dot(of_p.precision * apart) +
               std::log(of_q.precision.determinant() / of_p.precision.determinant()));
    CAPTURE(rank, noise, first);
    CHECK(dense > 0.01);
    CHECK(bpm::relative_entropy(q, p, kernel) == Approx(dense).epsilon(1e-4));
  }
  CHECK(bpm::relative_entropy(q, q, kernel) < 1e-12);

  CHECK_THROWS_WITH(bpm::relative_entropy(posterior(5), q, kernel),
                    Equals("relative_entropy: p is of 12 points, must be of q's 5 at most"));
  CHECK_THROWS_WITH(bpm::relative_entropy(q, q, kernel.topRows(3)),
                    Equals("relative_entropy: covariance is 3 x 12, expected a row and a column "
                           "for each of q's 12 points"));
  bpm::EpPosterior other = posterior(5);
  other.signs[2] = static_cast<signed char>(-other.signs[2]);
  CHECK_THROWS_WITH(bpm::relative_entropy(q, other, kernel),
                    Equals("relative_entropy: p has other signs than q's first points"));
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
    CHECK_THROWS_WITH(p.predict(values, Eigen::VectorXd(2)),
                      Equals("EpPosterior::predict: diagonal has 2 entries, expected 30 "
                             "(one per input)"));
  }
}
