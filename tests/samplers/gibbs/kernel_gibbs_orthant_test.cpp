// SPDX-License-Identifier: MIT
// Closed forms: on an orthant, w is |z| / norm(z) with z normal.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "bpm/samplers/gibbs/gibbs_line.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "catch.hpp"
#include "gibbs_problems.hpp"
#include "mutants/uniform_input_angle.hpp"
#include "statistics.hpp"

using namespace sampler_tests;
using bpm::detail::GibbsChain;
using GibbsDirection = bpm::KernelGibbs::Direction;

namespace {

std::vector<double> orthant_point(std::ptrdiff_t n, bpm::NormalDraws& normal,
                                  bpm::RandomEngine& engine) {
  std::vector<double> w(static_cast<std::size_t>(n));
  double square = 0;
  for (double& value : w) {
    value = std::abs(normal(engine));
    square += value * value;
  }
  for (double& value : w) value /= std::sqrt(square);
  return w;
}

/// Mean of a function of points, and its standard error by 40 batches.
class Average {
 public:
  explicit Average(int batch) : batch_(batch) {}
  void add(double value) {
    sum_ += value / batch_;
    if (++count_ == batch_) {
      batches_.push_back(sum_);
      sum_ = 0;
      count_ = 0;
    }
  }
  [[nodiscard]] double mean() const {
    double mean = 0;
    for (const double b : batches_) mean += b / static_cast<double>(batches_.size());
    return mean;
  }
  [[nodiscard]] double error() const {
    const auto n = static_cast<double>(batches_.size());
    double squares = 0;
    for (const double b : batches_) squares += (b - mean()) * (b - mean());
    return std::sqrt(squares / n / (n - 1));
  }

 private:
  int batch_;
  int count_ = 0;
  double sum_ = 0;
  std::vector<double> batches_;
};

struct Orthant {
  double largest = 0;        ///< E max_i w_i.
  double largest_error = 0;  ///< Its standard error.
  double product = 0;        ///< Mean of w_i w_j, i != j.
  double product_error = 0;
};

/// Sum over pairs from the sum over coordinates: sum_(i != j) w_i w_j = (sum w)^2 - 1.
double mean_product(const double* w, std::ptrdiff_t n) {
  double sum = 0;
  for (std::ptrdiff_t k = 0; k < n; ++k) sum += w[k];
  return (sum * sum - 1) / static_cast<double>(n * (n - 1));
}

template <class Chain>
Orthant sampled(std::ptrdiff_t n, GibbsDirection directions, std::uint64_t steps, int draws) {
  const bpm::Cone cone = orthant_cone(n);
  const std::vector<double> start(static_cast<std::size_t>(n), 1.0);
  Chain chain(cone, {.steps_per_draw = steps, .directions = directions}, start,
              bpm::RandomEngine(3, 94));
  Average largest(draws / 40);
  Average product(draws / 40);
  for (int k = 0; k < draws; ++k) {
    next_draw(chain, cone);
    const auto w = chain.position();
    largest.add(*std::max_element(w.begin(), w.end()));
    product.add(mean_product(w.data(), n));
  }
  return {largest.mean(), largest.error(), product.mean(), product.error()};
}

/// E max_i w_i by independent points.
Average true_largest(std::ptrdiff_t n) {
  bpm::RandomEngine engine(4, 95);
  bpm::NormalDraws normal;
  Average largest(1000);
  for (int k = 0; k < 40'000; ++k) {
    const std::vector<double> w = orthant_point(n, normal, engine);
    largest.add(*std::max_element(w.begin(), w.end()));
  }
  return largest;
}

}  // namespace

TEST_CASE("Gibbs on an orthant: second moments and the largest coordinate") {
  struct Case {
    std::ptrdiff_t dimension;
    GibbsDirection directions;
    std::uint64_t steps;
    int draws;
  };
  const Case c = GENERATE(
      Case{2, GibbsDirection::isotropic, 3, 40'000}, Case{2, GibbsDirection::input, 3, 40'000},
      Case{20, GibbsDirection::isotropic, 50, 8'000}, Case{20, GibbsDirection::input, 50, 8'000},
      Case{60, GibbsDirection::isotropic, 200, 4'000},
      Case{200, GibbsDirection::input, 400, 2'000});
  CAPTURE(c.dimension, c.directions == GibbsDirection::input);
  const Orthant found = sampled<GibbsChain>(c.dimension, c.directions, c.steps, c.draws);
  const double product = 2 / std::numbers::pi / static_cast<double>(c.dimension);
  CHECK(std::abs(found.product - product) < 5 * found.product_error);
  CHECK(found.product_error < 0.02 * product);
  const Average largest = true_largest(c.dimension);
  CHECK(std::abs(found.largest - largest.mean()) <
        5 * std::hypot(found.largest_error, largest.error()));
  CHECK(found.largest_error < 0.02 * found.largest);
}

TEST_CASE("Gibbs on an orthant: a uniform angle to the inputs is found out") {
  const Orthant found =
      sampled<bpm::detail::uniform_input_angle_GibbsChain>(20, GibbsDirection::input, 50, 8'000);
  const Average largest = true_largest(20);
  CHECK(std::abs(found.largest - largest.mean()) >
        20 * std::hypot(found.largest_error, largest.error()));
}

TEST_CASE("Gibbs on an orthant: the centre and its norm") {
  // E w_i = E|z_1| / E chi_n.
  const GibbsDirection directions = GENERATE(GibbsDirection::isotropic, GibbsDirection::input);
  const bool rao_blackwell = GENERATE(false, true);
  const std::ptrdiff_t n = GENERATE(2, 5, 12);
  CAPTURE(n, directions == GibbsDirection::input, rao_blackwell);
  const bpm::Cone cone = orthant_cone(n);
  const std::vector<double> start(static_cast<std::size_t>(n), 1.0);
  GibbsChain chain(cone, {.directions = directions, .rao_blackwell = rao_blackwell}, start,
                   bpm::RandomEngine(5, 96));
  for (int k = 0; k < 2'000; ++k) {
    next_draw(chain, cone);
  }
  std::vector<double> mean(static_cast<std::size_t>(cone.stride()), 0.0);
  chain.add_sum(cone, 1 / chain.weight(), mean.data());
  const double truth = std::sqrt(2 / std::numbers::pi) / bpm::detail::mean_chi(n);
  for (std::ptrdiff_t k = 0; k < n; ++k) {
    CHECK(std::abs(mean[static_cast<std::size_t>(k)] - truth) < 0.01);
  }
  // The basis of the coordinates is that of the points: dual coefficients are the coordinates.
  std::vector<double> alpha(static_cast<std::size_t>(n), 0.0);
  chain.add_dual_sum(cone, 1 / chain.weight(), alpha.data());
  std::vector<double> inside(static_cast<std::size_t>(cone.stride()), 0.0);
  chain.add_inside_sum(cone, 1 / chain.weight(), inside.data());
  CHECK(inside == mean);
  const std::vector<double> back = cone.coordinates(alpha);
  for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
    CHECK(std::abs(back[k] - mean[k]) < 1e-12);
  }
}

TEST_CASE("Gibbs on an orthant: a coordinate of the draws has the law of |z_1| / norm(z)") {
  // In four dimensions the angle to an axis has density sin^2 on (0, pi / 2).
  const GibbsDirection directions = GENERATE(GibbsDirection::isotropic, GibbsDirection::input);
  CAPTURE(directions == GibbsDirection::input);
  const bpm::Cone cone = orthant_cone(4);
  GibbsChain chain(cone, {.steps_per_draw = 100, .directions = directions},
                   std::vector<double>(4, 0.5), bpm::RandomEngine(6, 97));
  std::vector<double> sample;
  double above = 0;
  for (int k = 0; k < 10'000; ++k) {
    next_draw(chain, cone);
    sample.push_back(chain.position()[0]);
    above += sample.back() > 0.7 ? 1e-4 : 0;
  }
  const auto law = [](double w) {
    const double a = std::acos(w);
    return 1 - (a - std::sin(a) * std::cos(a)) * 2 / std::numbers::pi;
  };
  CHECK(test_support::kolmogorov_smirnov(sample, law) < test_support::kolmogorov_smirnov_bound);
  CHECK(std::abs(above - 0.188) < 0.02);
}
