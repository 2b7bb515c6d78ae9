// SPDX-License-Identifier: MIT
// Normal laws cut by half spaces against hazards, arcsines and rejection.
#include "bpm/gaussian_process/orthant/truncated_normal.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/gaussian_process/orthant/box_ball.hpp"
#include "catch.hpp"
#include "orthant_problems.hpp"

using namespace orthant_tests;

namespace {

/// N(mean, covariance) where A x + b >= 0.
struct CutLaw {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
  Eigen::MatrixXd normals;
  Eigen::VectorXd offsets;
  Eigen::VectorXd start{};

  [[nodiscard]] bpm::TruncatedNormal law() const {
    return {mean, covariance, {.normals = normals, .offsets = offsets, .start = start}};
  }
  [[nodiscard]] Eigen::MatrixXd draws(Eigen::Index count, std::uint64_t seed = 1) const {
    bpm::RandomStreams streams{.seed = seed};
    return law().sample(count, {}, streams);
  }
  /// The least of A x + b over the draws.
  [[nodiscard]] double closest(const Eigen::MatrixXd& draws) const {
    return ((normals * draws).colwise() + offsets).minCoeff();
  }
  [[nodiscard]] Eigen::MatrixXd rejection(Eigen::Index count) const {
    const Eigen::MatrixXd root = Eigen::LLT<Eigen::MatrixXd>(covariance).matrixL();
    bpm::RandomEngine engine(11, 7);
    bpm::NormalDraws normal;
    Eigen::MatrixXd kept(mean.size(), count);
    for (Eigen::Index j = 0; j < count;) {
      Eigen::VectorXd z(mean.size());
      for (double& value : z) value = normal(engine);
      const Eigen::VectorXd x = mean + root * z;
      if ((normals * x + offsets).minCoeff() >= 0) kept.col(j++) = x;
    }
    return kept;
  }
  [[nodiscard]] double z_against_rejection(Eigen::Index count) const {
    const Eigen::MatrixXd made = draws(count);
    CHECK(closest(made) >= -1e-12);
    const Eigen::MatrixXd difference = moments(made) - moments(rejection(count));
    return worst_z(difference, Eigen::VectorXd::Zero(difference.rows()));
  }
};

/// Two planes that cut a correlated law off its mean.
CutLaw wedge() {
  CutLaw cut{Eigen::VectorXd(2), Eigen::MatrixXd(2, 2), Eigen::MatrixXd(2, 2), Eigen::VectorXd(2)};
  cut.mean << 0.4, -0.5;
  cut.covariance << 2, -0.9, -0.9, 1;
  cut.normals << 3, 1, -0.2, 0.7;
  cut.offsets << -1, 0.3;
  return cut;
}

/// x >= 0, sum x <= 1.
CutLaw simplex(Eigen::Index n) {
  CutLaw cut{Eigen::VectorXd::LinSpaced(n, -0.2, 0.6), 0.3 * random_covariance(n, n, 0.2, 3),
             Eigen::MatrixXd::Identity(n + 1, n), Eigen::VectorXd::Zero(n + 1)};
  cut.normals.row(n).setConstant(-1);
  cut.offsets[n] = 1;
  return cut;
}

}  // namespace

TEST_CASE("half spaces: one plane in five dimensions, by hazards") {
  const double bound = GENERATE(-1.0, 0.0, 2.0, 12.0);  // Deviations from the mean.
  CAPTURE(bound);
  CutLaw cut{Eigen::VectorXd::LinSpaced(5, -2, 1), random_covariance(5, 4, 0.2, 4),
             Eigen::MatrixXd(1, 5), Eigen::VectorXd(1)};
  cut.normals << 1, -2, 0.5, 0, 3;
  const Eigen::VectorXd product = cut.covariance * cut.normals.transpose();
  const double deviation = std::sqrt(cut.normals.row(0).dot(product));
  cut.offsets[0] = -cut.normals.row(0).dot(cut.mean) - bound * deviation;
  // Along the normal a number beyond the bound, the rest as before: x = mean + g (t - E t) + rest.
  const double hazard = bpm::detail::normal_hazard(-bound);
  const Eigen::VectorXd g = product / deviation;
  const double variance = 1 + bound * hazard - hazard * hazard;
  const Eigen::VectorXd mean = cut.mean + hazard * g;
  const Eigen::MatrixXd squares =
      cut.covariance + (variance - 1) * g * g.transpose() + mean * mean.transpose();
  Eigen::VectorXd truth(20);
  truth.head(5) = mean;
  Eigen::Index next = 5;
  for (Eigen::Index i = 0; i < 5; ++i) {
    for (Eigen::Index j = i; j < 5; ++j) truth[next++] = squares(i, j);
  }
  const Eigen::MatrixXd draws = cut.draws(20'000);
  CHECK(cut.closest(draws) >= -1e-12 * (1 + std::abs(bound)) * deviation);
  CHECK(worst_z(moments(draws), truth) < 5);
}

TEST_CASE("half spaces: a wedge at the mean is known by its angle") {
  // Between two lines through the mean of a round law, R uniform on the angle.
  const double angle = GENERATE(0.3, 1.2, 2.8);
  CAPTURE(angle);
  CutLaw cut{Eigen::VectorXd::Constant(2, 3.0), Eigen::MatrixXd::Identity(2, 2),
             Eigen::MatrixXd(2, 2), Eigen::VectorXd(2)};
  cut.normals << 0, 1, std::sin(angle), -std::cos(angle);
  cut.offsets = -cut.normals * cut.mean;
  Eigen::MatrixXd draws = cut.draws(20'000);
  CHECK(cut.closest(draws) >= -1e-12);
  draws.array() -= 3;
  const double radius = std::sqrt(std::numbers::pi / 2);
  Eigen::VectorXd truth(5);
  truth << radius * std::sin(angle) / angle, radius * (1 - std::cos(angle)) / angle,
      1 + std::sin(2 * angle) / (2 * angle), (1 - std::cos(2 * angle)) / (2 * angle),
      1 - std::sin(2 * angle) / (2 * angle);
  CHECK(worst_z(moments(draws), truth) < 5);
}

TEST_CASE("half spaces: a wedge off the mean and simplexes agree with rejection", "[at length]") {
  CHECK(wedge().z_against_rejection(20'000) < 5);
  CHECK(simplex(2).z_against_rejection(10'000) < 5);
  CHECK(simplex(4).z_against_rejection(10'000) < 5);
}

TEST_CASE("half spaces: more planes than coordinates, redundant and repeated ones") {
  CutLaw cut = wedge();
  Eigen::MatrixXd normals(9, 2);
  Eigen::VectorXd offsets(9);
  // Both planes, both once more at other lengths, and five that bound nothing that these leave.
  normals << cut.normals, 10 * cut.normals, cut.normals.row(0) + cut.normals.row(1),
      cut.normals.row(0), cut.normals.row(1), 2 * cut.normals.row(0) + 5 * cut.normals.row(1),
      cut.normals.row(0) + 1e-3 * cut.normals.row(1);
  offsets << cut.offsets, 10 * cut.offsets, cut.offsets.sum() + 1, cut.offsets[0] + 0.1,
      cut.offsets[1] + 1e-9, 2 * cut.offsets[0] + 5 * cut.offsets[1],
      cut.offsets[0] + 1e-3 * cut.offsets[1];
  cut.normals = normals;
  cut.offsets = offsets;
  CHECK(cut.z_against_rejection(20'000) < 5);
  // A polygon of seven sides.
  cut.normals.resize(7, 2);
  for (Eigen::Index i = 0; i < 7; ++i) {
    cut.normals.row(i) << std::cos(static_cast<double>(i)), std::sin(static_cast<double>(i));
  }
  cut.offsets.setConstant(7, 0.9);
  CHECK(cut.z_against_rejection(20'000) < 5);
}

TEST_CASE("half spaces: coordinates' own planes are a box", "[at length]") {
  const Eigen::Index n = 30;
  CutLaw cut{Eigen::VectorXd::LinSpaced(n, -1, 1), random_covariance(n, n, 0.2, 5),
             Eigen::MatrixXd::Identity(n, n), Eigen::VectorXd::Constant(n, 0.2)};
  bpm::RandomStreams streams{.seed = 8};
  const bpm::TruncatedNormal box(cut.mean, cut.covariance, -cut.offsets,
                                 Eigen::VectorXd::Constant(n, infinite));
  const Eigen::MatrixXd by_box = box.sample(20'000, {}, streams);
  const Eigen::MatrixXd by_planes = cut.draws(20'000);
  CHECK(worst_z(by_planes - by_box, Eigen::VectorXd::Zero(n)) < 5);
  CHECK(worst_z(by_planes.cwiseAbs2() - by_box.cwiseAbs2(), Eigen::VectorXd::Zero(n)) < 5);
  CHECK(cut.law().points() == n);
  CHECK(!cut.law().is_orthant());
}

TEST_CASE("half spaces: one seed, one sample") {
  const CutLaw cut = wedge();
  bpm::RandomStreams one{.seed = 3};
  bpm::RandomStreams three{.seed = 3};
  bpm::RunControl control;
  control.threads = 3;
  CHECK(cut.law().sample(40, {}, one) == cut.law().sample(40, {}, three, control));
}

TEST_CASE("half spaces: a start is found far out and in thin cones, or given") {
  // All coordinates 20 deviations out, and sums that bound them from above a little farther.
  const Eigen::Index n = 12;
  CutLaw far{Eigen::VectorXd::Zero(n), equicorrelated(n, 0.5), Eigen::MatrixXd::Identity(n + 1, n),
             Eigen::VectorXd::Constant(n + 1, -20)};
  far.normals.row(n).setConstant(-1);
  far.offsets[n] = 20 * static_cast<double>(n) + 2;
  CHECK(far.closest(far.draws(200)) >= -1e-10);
  CutLaw thin = wedge();
  thin.normals << 0, 1, 1e-3, -1;
  thin.offsets.setZero();
  CHECK(thin.closest(thin.draws(200)) >= -1e-12);
  // The start that is given is where chains begin.
  thin.start = Eigen::Vector2d(5, 2e-3);
  bpm::RandomStreams streams;
  const Eigen::MatrixXd first =
      thin.law().sample(1, {.burn_in = 0, .path_length = 1e-9, .chains = 1}, streams);
  CHECK((first.col(0) - thin.start).norm() < 1e-7);
}

TEST_CASE(
    "half spaces: a point inside keeps a part of each row's norm, as large as there is room") {
  using bpm::detail::point_inside;
  const auto margin = [](const bpm::RowMatrix<double>& rows, const Eigen::VectorXd& at_zero,
                         const Eigen::VectorXd& point) {
    return ((rows * point + at_zero).array() / rows.rowwise().norm().array()).minCoeff();
  };
  const double rounding = 1 - 1e-9;
  // The square of sides 2 about (5, -3), by rows of any length: a tenth of the norm is kept.
  for (const double length : {1e-3, 1.0, 1e3}) {
    CAPTURE(length);
    bpm::RowMatrix<double> rows(4, 2);
    rows << 1, 0, -length, 0, 0, 10, 0, -0.1;
    Eigen::VectorXd at_zero(4);
    at_zero << -4, 6 * length, 40, -0.2;
    const auto point = point_inside(rows, at_zero);
    REQUIRE(point.has_value());
    CHECK(margin(rows, at_zero, *point) >= 0.1 * rounding);
  }
  // Between y = 0 and y = x / 8: some hundred passes to where there is a tenth to both, not ten.
  bpm::RowMatrix<double> wedge_rows(2, 2);
  wedge_rows << 0, 1, 1, -8;
  const auto in_wedge = point_inside(wedge_rows, Eigen::VectorXd::Zero(2));
  REQUIRE(in_wedge.has_value());
  CHECK(margin(wedge_rows, Eigen::VectorXd::Zero(2), *in_wedge) >= 0.1 * rounding);
  // Strips: a millionth of the norm to both sides is found, three quarters of it are none.
  bpm::RowMatrix<double> strip(2, 1);
  strip << 1, -1;
  const auto in_strip = point_inside(strip, Eigen::Vector2d(0, 4e-6));
  REQUIRE(in_strip.has_value());
  CHECK(margin(strip, Eigen::Vector2d(0, 4e-6), *in_strip) >= 1e-6 * rounding);
  CHECK_FALSE(point_inside(strip, Eigen::Vector2d(0, 1.5e-6)).has_value());
}

TEST_CASE("half spaces: errors name what is wrong") {
  using Catch::Matchers::ContainsSubstring;
  const auto fails = [](const CutLaw& cut, const std::string& text) {
    CHECK_THROWS_WITH(cut.law(), ContainsSubstring(text));
    CHECK_THROWS_AS(cut.law(), std::invalid_argument);
  };
  const CutLaw good = wedge();
  CutLaw bad = good;
  bad.normals.setOnes(2, 3);
  fails(bad, "TruncatedNormal: normals has 3 columns, expected 2 (one per row of the covariance)");
  bad.normals.resize(0, 2);
  fails(bad, "TruncatedNormal: normals has no rows, must have at least one");
  bad = good;
  bad.offsets.resize(3);
  fails(bad, "TruncatedNormal: offsets has 3 entries, expected 2 (one per row of the normals)");
  bad = good;
  bad.start.setZero(1);
  fails(bad, "TruncatedNormal: start has 1 entries, expected 2 (one per row of the covariance)");
  bad.start.setConstant(2, infinite);
  fails(bad, "TruncatedNormal: start at 0 is inf, must be finite");
  bad = good;
  bad.mean[1] = infinite;
  fails(bad, "TruncatedNormal: mean at 1 is inf, must be finite");
  bad = good;
  bad.normals(1, 0) = std::numeric_limits<double>::quiet_NaN();
  fails(bad, "TruncatedNormal: normals row 1 is not finite");
  bad = good;
  bad.offsets[1] = infinite;
  fails(bad, "TruncatedNormal: offsets at 1 is inf, must be finite");
  bad = good;
  bad.normals.row(1).setZero();
  fails(bad, "TruncatedNormal: normals row 1 is zero");
  bad = good;
  bad.offsets[0] = -1e9;
  fails(bad, " deviations outside, must be 1e6 at most");
  bad = good;
  bad.start = Eigen::Vector2d(-5, 0);
  fails(bad, "TruncatedNormal: start is -16 inside half space 0, must be at least a millionth of");
  // A strip of no width, and two half spaces that do not meet.
  bad.start.resize(0);
  bad.normals << 1, 1, -1, -1;
  bad.offsets << 1, -1;
  fails(bad,
        "TruncatedNormal: no point inside all half spaces was found; there may be none, or give a "
        "start");
  bad.offsets << -1, -1;
  fails(bad, "no point inside all half spaces was found");
  bad = good;
  bad.covariance.setOnes();
  CHECK_THROWS_AS(bad.law(), bpm::NotPositiveDefinite);
}
