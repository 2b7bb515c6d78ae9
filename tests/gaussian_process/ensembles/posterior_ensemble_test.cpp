// SPDX-License-Identifier: MIT
// Posterior ensembles against the definition, with the noise drawn instead of integrated.
#include "bpm/gaussian_process/ensembles/posterior_ensemble.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/decision/votes.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "catch.hpp"
#include "message_of.hpp"

using test_support::message_of;

namespace {

struct LabelledPoints {
  Eigen::MatrixXd gram;
  Eigen::MatrixXd cross;
  Eigen::VectorXd self;
  std::vector<signed char> signs;

  LabelledPoints(Eigen::Index points, Eigen::Index inputs, std::uint64_t seed) {
    bpm::RandomEngine engine(seed, 0);
    const auto draw = [&](Eigen::Index count) {
      bpm::RowMatrix<double> x(count, 3);
      Eigen::MatrixXd::Map(x.data(), count, 3) = Eigen::MatrixXd::NullaryExpr(
          count, 3, [&](Eigen::Index, Eigen::Index) { return 2 * bpm::uniform_unit(engine) - 1; });
      return x;
    };
    const auto kernel = bpm::Gaussian::from_sigma(0.7);
    const bpm::RowMatrix<double> x = draw(points);
    const bpm::RowMatrix<double> z = draw(inputs);
    gram = bpm::kernel_matrix(kernel, x);
    cross = bpm::kernel_matrix(kernel, z, x);
    self = bpm::kernel_diagonal_values(kernel, z);
    for (Eigen::Index i = 0; i < points; ++i) {
      signs.push_back(x(i, 0) > 0 ? 1 : -1);
    }
  }

  [[nodiscard]] Eigen::VectorXd labels() const {
    Eigen::VectorXd values(std::ssize(signs));
    for (Eigen::Index i = 0; i < values.size(); ++i) values[i] = signs[static_cast<std::size_t>(i)];
    return values;
  }
};

}  // namespace

TEST_CASE("isotropic labels have the moments that Lemma 8 is made of") {
  const std::vector<signed char> signs{1, -1, -1};
  const double deviation = 0.7;
  bpm::IsotropicValues source(signs, deviation, {.seed = 3});
  CHECK(source.unit() == deviation);
  constexpr Eigen::Index voters = 100'000;
  Eigen::MatrixXf labels(3, voters);
  source.fill(0, labels, 1);
  for (Eigen::Index i = 0; i < 3; ++i) {
    CHECK(signs[static_cast<std::size_t>(i)] * labels.row(i).minCoeff() * labels.row(i).maxCoeff() *
              signs[static_cast<std::size_t>(i)] >
          0);
    for (Eigen::Index j = 0; j < 3; ++j) {
      const double found = deviation * deviation *
                           labels.row(i).cast<double>().dot(labels.row(j).cast<double>()) / voters;
      const double sign = signs[static_cast<std::size_t>(i)] * signs[static_cast<std::size_t>(j)];
      const double truth = deviation * deviation * (i == j ? 1 : 2 / std::numbers::pi * sign);
      CHECK(std::abs(found - truth) <
            5 * std::sqrt(2.0) * deviation * deviation / std::sqrt(double{voters}));
    }
  }
  Eigen::MatrixXf later(3, 10);
  source.fill(500, later, 1);
  CHECK(later == labels.middleCols(500, 10));
}

TEST_CASE("the isotropic deviation is det(K)^(1/2n)") {
  const LabelledPoints problem(6, 1, 1);
  const Eigen::LLT<Eigen::MatrixXd> factor(problem.gram);
  CHECK(bpm::IsotropicValues(factor, problem.signs, {}).unit() ==
        Approx(std::pow(problem.gram.determinant(), 1.0 / 12)));
}

TEST_CASE("votes of a posterior equal those of voters with their noise drawn") {
  const LabelledPoints problem(12, 5, 2);
  const Eigen::LLT<Eigen::MatrixXd> factor(problem.gram);
  const bpm::PosteriorEnsemble ensemble(factor, problem.cross, problem.self, 1);
  const double deviation = 0.5;
  constexpr std::uint64_t voters = 40'000;
  const bpm::Votes votes =
      ensemble.votes(bpm::IsotropicValues(problem.signs, deviation, {.seed = 5}), voters);

  // By the definition, in double, with other random numbers.
  const Eigen::MatrixXd inverse = problem.gram.inverse();
  const Eigen::MatrixXd map = problem.cross * inverse;
  const Eigen::VectorXd variance = problem.self - (map * problem.cross.transpose()).diagonal();
  CHECK((ensemble.deviations() - variance.cwiseSqrt()).cwiseAbs().maxCoeff() < 1e-9);
  CHECK((ensemble.mean(problem.labels()) - map * problem.labels()).cwiseAbs().maxCoeff() < 1e-9);
  bpm::RandomEngine engine(99, 1);
  std::vector<double> normals(17);
  Eigen::VectorXd counted = Eigen::VectorXd::Zero(5);
  Eigen::VectorXd without_noise = Eigen::VectorXd::Zero(5);
  for (std::uint64_t v = 0; v < voters; ++v) {
    bpm::detail::Ziggurat::instance().fill(normals.data(), 17, engine);
    Eigen::VectorXd labels = problem.labels();
    for (Eigen::Index i = 0; i < 12; ++i) {
      labels[i] *= deviation * std::abs(normals[static_cast<std::size_t>(i)]);
    }
    const Eigen::VectorXd mean = map * labels;
    for (Eigen::Index i = 0; i < 5; ++i) {
      const double noise = std::sqrt(variance[i]) * normals[static_cast<std::size_t>(12 + i)];
      counted[i] += mean[i] + noise > 0 ? 1 : 0;
      without_noise[i] += mean[i] > 0 ? 1 : 0;
    }
  }
  const double bound = 5 * std::sqrt(0.5 / static_cast<double>(voters));
  CHECK((votes.positive - counted / double(voters)).cwiseAbs().maxCoeff() < bound);
  // The mutant: the noise is forgotten.
  CHECK((votes.positive - without_noise / double(voters)).cwiseAbs().maxCoeff() > bound);
}

TEST_CASE("votes are the same bits on one thread and on three") {
  const LabelledPoints problem(20, 700, 3);
  const Eigen::LLT<Eigen::MatrixXd> factor(problem.gram);
  const bpm::IsotropicValues source(problem.signs, 0.3, {.seed = 1});
  const bpm::PosteriorEnsemble one(factor, problem.cross, problem.self, 1);
  const bpm::PosteriorEnsemble three(factor, problem.cross, problem.self, 3);
  CHECK(one.votes(source, 5'000).positive == three.votes(source, 5'000).positive);
}

TEST_CASE("votes do not depend on the scale of the kernel") {
  const LabelledPoints problem(12, 50, 7);
  const Eigen::LLT<Eigen::MatrixXd> factor(problem.gram);
  const bpm::PosteriorEnsemble ensemble(factor, problem.cross, problem.self, 1);
  const bpm::Votes votes =
      ensemble.votes(bpm::IsotropicValues(factor, problem.signs, {.seed = 2}), 2'000);
  for (const double scale : {1e80, 1e-80}) {
    CAPTURE(scale);
    const Eigen::LLT<Eigen::MatrixXd> scaled_factor(Eigen::MatrixXd(scale * problem.gram));
    const bpm::PosteriorEnsemble scaled(scaled_factor, scale * problem.cross, scale * problem.self,
                                        1);
    const bpm::IsotropicValues source(scaled_factor, problem.signs, {.seed = 2});
    CHECK((scaled.votes(source, 2'000).positive - votes.positive).cwiseAbs().maxCoeff() < 1e-5);
  }
}

TEST_CASE("the Gibbs error at a growing margin falls to the interpolator's") {
  const LabelledPoints problem(30, 400, 4);
  const Eigen::LLT<Eigen::MatrixXd> factor(problem.gram);
  const bpm::PosteriorEnsemble ensemble(factor, problem.cross, problem.self, 1);
  const Eigen::VectorXd outputs = ensemble.mean(problem.labels());
  std::vector<signed char> truth;
  for (Eigen::Index i = 0; i < outputs.size(); ++i) {
    truth.push_back(i % 10 == 0 ? -1 : 1);  // Any labels do.
  }
  const double interpolator = bpm::error_of_outputs(outputs, truth);
  CHECK(ensemble.votes_at_margin(problem.labels(), 0.01).bayes_error(truth) == interpolator);
  CHECK(std::abs(ensemble.votes_at_margin(problem.labels(), 1e7).gibbs_error(truth) -
                 interpolator) < 1e-3);
  CHECK(std::abs(ensemble.votes_at_margin(problem.labels(), 1e-9).gibbs_error(truth) - 0.5) < 1e-6);
}

TEST_CASE("an ensemble at a training point is sure of its label") {
  const LabelledPoints problem(8, 1, 5);
  const Eigen::LLT<Eigen::MatrixXd> factor(problem.gram);
  const bpm::PosteriorEnsemble ensemble(factor, problem.gram, problem.gram.diagonal(), 1);
  const bpm::Votes votes =
      ensemble.votes(bpm::IsotropicValues(problem.signs, 1.0, {.seed = 1}), 100);
  for (Eigen::Index i = 0; i < 8; ++i) {
    CHECK(votes.positive[i] ==
          Approx(problem.signs[static_cast<std::size_t>(i)] > 0 ? 1.0 : 0.0).margin(1e-3));
  }
}

TEST_CASE("the fast normal distribution function is right to four parts in ten million") {
  constexpr Eigen::Index count = 20'001;
  Eigen::ArrayXf z = Eigen::ArrayXf::LinSpaced(count, -20.0F, 20.0F);
  const Eigen::ArrayXf kept = z;
  Eigen::ArrayXf sums = Eigen::ArrayXf::Zero(count);
  bpm::detail::add_normal_cdf(z, sums);
  double worst = 0;
  for (Eigen::Index i = 0; i < count; ++i) {
    worst = std::max(worst, std::abs(sums[i] - bpm::detail::normal_cdf(double{kept[i]})));
  }
  CHECK(worst < 4e-7);
  z.resize(2);
  z << std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity();
  sums = Eigen::ArrayXf::Zero(2);
  bpm::detail::add_normal_cdf(z, sums);
  CHECK(sums[0] == 1.0F);
  CHECK(sums[1] == Approx(0.0F).margin(1e-9));
}

TEST_CASE("ensembles say what is wrong with their arguments") {
  const LabelledPoints problem(4, 3, 6);
  const Eigen::LLT<Eigen::MatrixXd> factor(problem.gram);
  using bpm::PosteriorEnsemble;
  CHECK(message_of(
            [&] { (void)PosteriorEnsemble(factor, problem.cross.leftCols(3), problem.self); }) ==
        "PosteriorEnsemble: cross has 3 entries, expected 4 (columns: one per training point)");
  CHECK(message_of([&] { (void)PosteriorEnsemble(factor, problem.cross, problem.self.head(2)); }) ==
        "PosteriorEnsemble: self has 2 entries, expected 3 (one per input)");
  CHECK(message_of([&] {
          (void)PosteriorEnsemble(factor, problem.cross.topRows(0), Eigen::VectorXd());
        }) == "PosteriorEnsemble: cross has no row, expected one per input");
  CHECK(
      message_of([&] { (void)PosteriorEnsemble(factor, problem.cross, problem.self, 1, 1000); }) ==
      "PosteriorEnsemble: 3 inputs and 4 training points need 65680 bytes, memory is 1000; raise "
      "memory or take fewer inputs at a time");
  CHECK(
      message_of([&] { (void)PosteriorEnsemble(factor, problem.cross, problem.self, 4097); }) ==
      "PosteriorEnsemble: threads is 4097, must be from 1 to 4096, or 0 for as many as there are");
  const Eigen::LLT<Eigen::MatrixXd> failed(Eigen::MatrixXd(-problem.gram));
  CHECK(message_of([&] { (void)PosteriorEnsemble(failed, problem.cross, problem.self); }) ==
        "PosteriorEnsemble: factor is of a matrix that is not positive definite");
  Eigen::MatrixXd cross = problem.cross;
  cross(0, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK(message_of([&] { (void)PosteriorEnsemble(factor, cross, problem.self); }) ==
        "PosteriorEnsemble: cross holds a number that is not finite");
  CHECK(message_of([&] { (void)PosteriorEnsemble(factor, problem.cross, cross.col(0)); }) ==
        "PosteriorEnsemble: self holds a number that is not finite");
  CHECK(message_of([&] {
          (void)PosteriorEnsemble(Eigen::LLT<Eigen::MatrixXd>(Eigen::MatrixXd(0, 0)), problem.cross,
                                  problem.self);
        }) == "PosteriorEnsemble: factor is empty");

  const PosteriorEnsemble ensemble(factor, problem.cross, problem.self, 1);
  const bpm::IsotropicValues source(problem.signs, 1, {});
  const std::vector<signed char> two{1, -1};
  CHECK(message_of([&] { (void)ensemble.votes(source, 0); }) ==
        "PosteriorEnsemble::votes: voters is 0, must be 1 or more");
  CHECK(message_of([&] { (void)ensemble.votes(bpm::IsotropicValues(two, 1, {}), 1); }) ==
        "PosteriorEnsemble::votes: source has 2 entries, expected 4 (values: one per training "
        "point)");
  CHECK(message_of([&] {
          (void)ensemble.votes(source, 1, {.observer = [](const bpm::Progress&) { return false; }});
        }) == "PosteriorEnsemble::votes: stopped after 0 of 1 voters");
  CHECK(message_of([&] { (void)ensemble.mean(Eigen::Vector2d(1, 1)); }) ==
        "PosteriorEnsemble::mean: values has 2 entries, expected 4 (one per training point)");
  CHECK(message_of([&] { (void)ensemble.votes_at_margin(problem.labels(), 0); }) ==
        "PosteriorEnsemble::votes_at_margin: margin is 0, must be positive and finite");
  Eigen::VectorXd labels = problem.labels();
  labels[1] = std::numeric_limits<double>::infinity();
  CHECK(message_of([&] { (void)ensemble.mean(labels); }) ==
        "PosteriorEnsemble::mean: values hold a number that is not finite");
  CHECK(message_of([&] { (void)PosteriorEnsemble(factor, problem.cross, -problem.self); }) ==
        "PosteriorEnsemble: self holds -1, k(x, x) must not be negative");
  CHECK(message_of([&] { (void)bpm::IsotropicValues({}, 1, {}); }) ==
        "IsotropicValues: signs are empty, expected one per training point");
  CHECK(message_of([&] { (void)bpm::IsotropicValues(two, 0, {}); }) ==
        "IsotropicValues: deviation is 0, must be positive and finite");
  const std::vector<signed char> wrong{1, 2};
  CHECK(message_of([&] { (void)bpm::IsotropicValues(wrong, 1, {}); }) ==
        "IsotropicValues: signs at 1 is 2, must be 1 or -1");
  CHECK(message_of([&] {
          (void)bpm::IsotropicValues(Eigen::LLT<Eigen::MatrixXd>(Eigen::MatrixXd(0, 0)), {}, {});
        }) == "IsotropicValues: factor is empty");
}
