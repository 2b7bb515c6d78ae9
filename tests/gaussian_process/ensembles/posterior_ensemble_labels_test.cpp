// SPDX-License-Identifier: MIT
// Labels of the exact posterior against rejection sampling.
#include "bpm/gaussian_process/ensembles/posterior_ensemble.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

namespace {

Eigen::MatrixXd covariance() {
  Eigen::MatrixXd k(3, 3);
  k << 1, 0.6, -0.2,  //
      0.6, 2, 0.3,    //
      -0.2, 0.3, 0.5;
  return k;
}

const std::vector<signed char> plane_signs{1, 1, -1};

}  // namespace

TEST_CASE("voters' labels have the law of the prior given the signs") {
  constexpr Eigen::Index voters = 40'000;
  bpm::OrthantValues source(covariance(), plane_signs, {.seed = 4});
  Eigen::MatrixXf labels(3, voters);
  source.fill(0, labels, 2);

  const Eigen::MatrixXd lower = Eigen::LLT<Eigen::MatrixXd>(covariance()).matrixL();
  bpm::RandomEngine engine(8, 0);
  Eigen::Vector3d z;
  Eigen::Vector3d mean = Eigen::Vector3d::Zero();
  Eigen::Vector3d square = Eigen::Vector3d::Zero();
  double accepted = 0;
  for (int k = 0; k < 400'000; ++k) {
    bpm::detail::Ziggurat::instance().fill(z.data(), 3, engine);
    const Eigen::Vector3d f = lower * z;
    if (f[0] > 0 && f[1] > 0 && f[2] < 0) {
      mean += f;
      square += f.cwiseAbs2();
      accepted += 1;
    }
  }
  mean /= accepted;
  square /= accepted;
  for (Eigen::Index i = 0; i < 3; ++i) {
    CAPTURE(i);
    const Eigen::VectorXd values = source.unit() * labels.row(i).cast<double>();
    CHECK((values * plane_signs[static_cast<std::size_t>(i)]).minCoeff() > 0);
    const double deviation = std::sqrt(square[i] - mean[i] * mean[i]);
    // Chains' draws are slightly dependent: 7 standard errors of independent ones.
    const double bound = 7 * deviation * std::sqrt(1 / accepted + 1.0 / double{voters});
    CHECK(std::abs(values.mean() - mean[i]) < bound);
    CHECK(std::abs(values.squaredNorm() / double{voters} - square[i]) <
          4 * std::sqrt(square[i]) * bound);
  }
}

TEST_CASE("voters are the same on one thread and on three, and in blocks of any size") {
  const bpm::OrthantValues::Settings settings{.chains = 3, .burn_in = 2};
  bpm::OrthantValues whole(covariance(), plane_signs, {.seed = 1}, settings);
  bpm::OrthantValues parts(covariance(), plane_signs, {.seed = 1}, settings);
  Eigen::MatrixXf all(3, 20);
  whole.fill(0, all, 1);
  Eigen::MatrixXf first(3, 7);
  Eigen::MatrixXf second(3, 13);
  parts.fill(0, first, 3);
  parts.fill(7, second, 3);
  CHECK(all.leftCols(7) == first);
  CHECK(all.rightCols(13) == second);
}

TEST_CASE("voters' labels say what is wrong") {
  CHECK(message_of([&] {
          (void)bpm::OrthantValues(covariance(), plane_signs, {}, {.chains = 0});
        }) == "OrthantValues: chains is 0, must be 1 or more");
  bpm::OrthantValues source(covariance(), plane_signs, {});
  Eigen::MatrixXf labels(3, 2);
  CHECK(message_of([&] { source.fill(0, labels.topRows(2), 1); }) ==
        "OrthantValues::fill: values has 2 entries, expected 3 (rows: one per training point)");
  CHECK(message_of([&] { source.fill(2, labels, 1); }) ==
        "OrthantValues::fill: first is 2, must be the voter that follows, 0");
}
