// SPDX-License-Identifier: MIT
// Leave-one-out predictions against fits without the point.
#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"

namespace {

using Matrix = bpm::RowMatrix<double>;

bpm::EpPosterior fit(const Matrix& kernel, const std::vector<signed char>& signs, double noise) {
  const bpm::PrecomputedGram<double> gram(kernel);
  const bpm::KernelVersionSpace<double> space(gram, signs);
  return bpm::expectation_propagation(space, {.noise_deviation = noise, .tolerance = 1e-8});
}

/// The matrix without row and column i.
Matrix without(const Matrix& kernel, Eigen::Index i) {
  const Eigen::Index m = kernel.rows();
  Matrix rest(m - 1, m - 1);
  for (Eigen::Index a = 0; a + 1 < m; ++a) {
    for (Eigen::Index b = 0; b + 1 < m; ++b) {
      rest(a, b) = kernel(a < i ? a : a + 1, b < i ? b : b + 1);
    }
  }
  return rest;
}

}  // namespace

TEST_CASE("leave-one-out predictions of independent points know nothing") {
  const Matrix kernel = Matrix::Identity(4, 4);
  const bpm::EpPosterior::LeaveOneOut found = fit(kernel, {1, -1, 1, 1}, 0).leave_one_out();
  CHECK(found.mean.cwiseAbs().maxCoeff() < 1e-9);
  CHECK((found.variance.array() - 1).abs().maxCoeff() < 1e-9);
  CHECK((found.probability.array() - 0.5).abs().maxCoeff() < 1e-9);
  CHECK(found.gibbs_error == Approx(0.5));
  CHECK(found.agreement == Approx(0).margin(1e-12));
  CHECK(found.log_score == Approx(std::log(0.5)));
}

TEST_CASE("leave-one-out rates of three cavities, by hand") {
  // Cavities N(1, 1), N(-1, 4), N(0, 1) beside sites of precision 1 and shift 1/2: probabilities
  // Phi(1), Phi(-1/2) and 1/2 of the points' own labels.
  bpm::EpPosterior posterior;
  const std::vector<double> mean{1, -1, 0};
  const std::vector<double> variance{1, 4, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    posterior.site_precision.push_back(1);
    posterior.site_shift.push_back(0.5);
    posterior.variances.push_back(1 / (1 / variance[i] + 1));
    posterior.outputs.push_back(posterior.variances[i] * (mean[i] / variance[i] + 0.5));
  }
  const bpm::EpPosterior::LeaveOneOut found = posterior.leave_one_out();
  CHECK(found.mean[1] == Approx(-1).epsilon(1e-14));
  CHECK(found.variance[1] == Approx(4).epsilon(1e-14));
  constexpr double a = 0.8413447460685429;
  constexpr double b = 0.3085375387259869;
  CHECK(found.probability[0] == Approx(a).epsilon(1e-14));
  CHECK(found.probability[1] == Approx(b).epsilon(1e-14));
  CHECK(found.gibbs_error == Approx(1 - (a + b + 0.5) / 3).epsilon(1e-14));
  // The second is wrong, and one half is no majority.
  CHECK(found.bayes_error == Approx(2.0 / 3).epsilon(1e-14));
  // (0.46606494267 + 0.14663149630 + 0) / 3.
  CHECK(found.agreement == Approx(0.204232146323).epsilon(1e-10));
  CHECK(found.log_score == Approx((std::log(a) + std::log(b) + std::log(0.5)) / 3).epsilon(1e-13));
}

TEST_CASE("leave-one-out predictions are close to those of fits without the point") {
  const double noise = GENERATE(0.0, 0.3);
  CAPTURE(noise);
  constexpr Eigen::Index m = 30;
  bpm::RandomEngine engine(11, 0);
  Matrix x(m, 2);
  std::vector<signed char> signs;
  for (Eigen::Index i = 0; i < m; ++i) {
    for (Eigen::Index k = 0; k < 2; ++k) x(i, k) = 4 * bpm::uniform_unit(engine) - 2;
    signs.push_back(x(i, 0) + 0.5 * x(i, 1) * x(i, 1) > 0.5 ? 1 : -1);
  }
  const Matrix kernel = bpm::kernel_matrix(bpm::Gaussian::from_sigma(1.0), x);
  const bpm::EpPosterior::LeaveOneOut found = fit(kernel, signs, noise).leave_one_out();
  double worst = 0;
  double mean_probability = 0;
  for (Eigen::Index i = 0; i < m; ++i) {
    std::vector<signed char> others = signs;
    others.erase(others.begin() + i);
    const bpm::EpPosterior rest = fit(without(kernel, i), others, noise);
    Eigen::MatrixXd values(rest.rank(), 1);
    for (std::ptrdiff_t p = 0; p < rest.rank(); ++p) {
      const Eigen::Index point = rest.pivots[static_cast<std::size_t>(p)];
      values(p, 0) = kernel(point < i ? point : point + 1, i);
    }
    const bpm::EpPosterior::Prediction told =
        rest.predict(values, Eigen::VectorXd::Constant(1, kernel(i, i)));
    const double probability =
        signs[static_cast<std::size_t>(i)] > 0 ? told.probability[0] : 1 - told.probability[0];
    worst = std::max(worst, std::abs(found.probability[i] - probability));
    mean_probability += probability / double{m};
  }
  // The cavity is an approximation: measured without noise 0.095 at worst and 0.014 on average.
  CHECK(worst < 0.15);
  CHECK(std::abs(found.gibbs_error - (1 - mean_probability)) < 0.02);
  // The mutant, the posterior with the point's own site, is far off.
  const bpm::EpPosterior all = fit(kernel, signs, noise);
  double own = 0;
  for (Eigen::Index i = 0; i < m; ++i) {
    const auto k = static_cast<std::size_t>(i);
    own += (1 - bpm::detail::positive_probability(all.outputs[k], all.variances[k], noise)) /
           double{m};
  }
  CHECK(std::abs(own - (1 - mean_probability)) > 0.03);
}

TEST_CASE("leave-one-out predictions of a point without features are even") {
  Matrix kernel = Matrix::Identity(3, 3);
  kernel(1, 1) = 0;
  const bpm::EpPosterior::LeaveOneOut found = fit(kernel, {1, 1, -1}, 0.5).leave_one_out();
  CHECK(found.probability[1] == 0.5);
  CHECK(found.variance[1] == 0);
  CHECK(std::isfinite(found.log_score));
}

TEST_CASE("leave-one-out predictions need points") {
  try {
    (void)bpm::EpPosterior{}.leave_one_out();
    FAIL("nothing was thrown");
  } catch (const std::invalid_argument& error) {
    CHECK(std::string(error.what()) == "EpPosterior::leave_one_out: posterior is of no point");
  }
}
