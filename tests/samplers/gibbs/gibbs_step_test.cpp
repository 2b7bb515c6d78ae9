// SPDX-License-Identifier: MIT
// Arcs of a circle and pieces of a line, against errors counted on a fine grid.
#include "bpm/samplers/gibbs/gibbs_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"

using namespace bpm::detail;

namespace {

/// Outputs of b and of z in as many dimensions as one likes: any numbers will do.
struct CircleOutputs {
  std::vector<double> d;
  std::vector<double> p;
  double along;
  double across;

  CircleOutputs(std::ptrdiff_t m, std::uint64_t seed, bool inside) {
    bpm::RandomEngine engine(seed, 99);
    bpm::NormalDraws normal;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      d.push_back(inside ? std::abs(normal(engine)) : normal(engine));
      p.push_back(3 * normal(engine));
    }
    along = normal(engine);
    across = 0.2 + std::abs(normal(engine));
  }
  [[nodiscard]] RandomDirections::Direction z() const { return {nullptr, p.data(), along, across}; }
  [[nodiscard]] std::ptrdiff_t points() const { return std::ssize(d); }
  [[nodiscard]] int errors_at_angle(double t) const {
    int errors = 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
      const double nu = (p[i] - along * d[i]) / across;
      errors += d[i] * std::cos(t) + nu * std::sin(t) > 0 ? 0 : 1;
    }
    return errors;
  }
};

constexpr int grid = 20'000;

}  // namespace

TEST_CASE("the arc without errors ends where the first plane is met") {
  const std::ptrdiff_t m = GENERATE(1, 2, 3, 7, 8, 9, 40);
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(m, seed);
    const CircleOutputs o(m, seed, true);
    const Arc arc = free_arc(o.d.data(), o.z(), m);
    CHECK(arc.low < 0);
    CHECK(arc.high > 0);
    CHECK(arc.high - arc.low <= std::numbers::pi + 1e-12);
    CHECK(o.errors_at_angle(arc.low + 1e-9) == 0);
    CHECK(o.errors_at_angle(arc.high - 1e-9) == 0);
    CHECK(o.errors_at_angle(arc.low - 1e-9) == 1);
    CHECK(o.errors_at_angle(arc.high + 1e-9) == 1);
  }
}

TEST_CASE("point and mean of an arc") {
  bpm::RandomEngine engine(1, 100);
  for (const Arc arc : {Arc{-0.5, 1.2}, Arc{-1e-9, 2e-9}, Arc{0.0, std::numbers::pi}}) {
    double cosine = 0;
    double sine = 0;
    CirclePoint point{};
    for (int k = 0; k < 40'000; ++k) {
      point = point_of_arc(arc, engine);
      cosine += point.cosine / 40'000;
      sine += point.sine / 40'000;
    }
    const double length = arc.high - arc.low;
    CHECK(std::abs(point.mean_cosine - cosine) < 0.02 * length);
    CHECK(std::abs(point.mean_sine - sine) < 0.02 * length);
    if (length > 1e-6) {
      CHECK(std::abs(point.mean_cosine - (std::sin(arc.high) - std::sin(arc.low)) / length) <
            1e-14);
    }
  }
}

TEST_CASE("lengths of the arcs by errors agree with a fine grid") {
  const std::ptrdiff_t m = GENERATE(1, 2, 5, 30);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(m, seed);
    CircleOutputs o(m, seed, false);
    if (m == 30) {
      o.d[3] = 0;                 // A plane through b,
      o.p[4] = o.along * o.d[4];  // one that v runs in,
      o.d[5] = o.p[5] = 0;        // and one that does not see the circle.
    }
    GibbsCircle circle;
    circle.cut(o.d.data(), o.z(), m);
    std::vector<double> lengths(static_cast<std::size_t>(m) + 1, 0.0);
    double total = 0;
    circle.visit([&](std::ptrdiff_t errors, double length) {
      lengths.at(static_cast<std::size_t>(errors)) += length;
      total += length;
    });
    CHECK(std::abs(total - 2 * std::numbers::pi) < 1e-11);
    std::vector<double> counted(lengths.size(), 0.0);
    for (int k = 0; k < grid; ++k) {
      const double t = 2 * std::numbers::pi * (k + 0.5) / grid;
      counted[static_cast<std::size_t>(o.errors_at_angle(t))] += 2 * std::numbers::pi / grid;
    }
    for (std::size_t e = 0; e < lengths.size(); ++e) {
      CHECK(std::abs(lengths[e] - counted[e]) < 2e-3 * static_cast<double>(m));
    }
  }
}

TEST_CASE("draws on the circle and their mean agree with a fine grid") {
  const double noise = GENERATE(0.4, 0.1, 1e-3);
  const CircleOutputs o(12, 3, false);
  GibbsCircle circle;
  circle.cut(o.d.data(), o.z(), 12);
  const GibbsPenalty penalty(GibbsPenalty::beta_of(noise), 12);
  double total = 0;
  double cosine = 0;
  double sine = 0;
  std::vector<double> part(8, 0.0);
  const auto eighth = [](double t) {
    return static_cast<std::size_t>(std::min(7.0, 8 * t / (2 * std::numbers::pi)));
  };
  for (int k = 0; k < grid; ++k) {
    const double t = 2 * std::numbers::pi * (k + 0.5) / grid;
    const double weight = std::pow(noise / (1 - noise), o.errors_at_angle(t));
    total += weight;
    cosine += weight * std::cos(t);
    sine += weight * std::sin(t);
    part[eighth(t)] += weight;
  }
  bpm::RandomEngine engine(2, 100);
  std::vector<double> drawn(8, 0.0);
  CirclePoint point{};
  constexpr int draws = 20'000;
  for (int k = 0; k < draws; ++k) {
    point = circle.draw(penalty, engine);
    double t = std::atan2(point.sine, point.cosine);
    if (t < 0) t += 2 * std::numbers::pi;
    drawn[eighth(t)] += 1.0 / draws;
  }
  CHECK(std::abs(point.mean_cosine - cosine / total) < 2e-3);
  CHECK(std::abs(point.mean_sine - sine / total) < 2e-3);
  for (std::size_t k = 0; k < 8; ++k) CHECK(std::abs(drawn[k] - part[k] / total) < 0.02);
}

TEST_CASE("planes through one point of the circle open no arc, however small the noise") {
  // Two planes and their opposites: both signs of each cannot be right at once.
  const std::vector<double> d{1.0, -1.0, 0.3, -0.3, 0.3};
  const std::vector<double> p{0.7, -0.7, -2.0, 2.0, -2.0};
  GibbsCircle circle;
  circle.cut(d.data(), {nullptr, p.data(), 0.1, 1.3}, 5);
  double shortest = 10;
  circle.visit([&](std::ptrdiff_t errors, double length) {
    CHECK(errors >= 2);
    shortest = std::min(shortest, length);
  });
  CHECK(shortest > 0.01);
  const GibbsPenalty penalty(GibbsPenalty::beta_of(1e-300), 5);
  bpm::RandomEngine engine(3, 100);
  const CirclePoint point = circle.draw(penalty, engine);
  CHECK(std::abs(std::hypot(point.cosine, point.sine) - 1) < 1e-12);
  CHECK(std::isfinite(point.mean_cosine));
}

TEST_CASE("a place on the line and its mean agree with a fine grid") {
  const double noise = GENERATE(0.0, 0.4, 0.05, 1e-12);
  CAPTURE(noise);
  const std::ptrdiff_t m = 12;
  CircleOutputs o(m, 4, noise == 0);
  const double norm = 2.5;  // Of w.
  const double at = 0.8;
  const double feature = 1.7;  // norm(s).
  o.p[0] = feature * feature;  // The line's own plane.
  o.d[0] = at * feature / norm;
  double total = 0;
  double mean = 0;
  double below = 0;
  constexpr double reach = 9;
  for (int k = 0; k < grid; ++k) {
    const double x = reach * (2 * (k + 0.5) / grid - 1);
    int errors = 0;
    for (std::size_t i = 0; i < o.d.size(); ++i) {
      errors += norm * o.d[i] + (x - at) * o.p[i] / feature > 0 ? 0 : 1;
    }
    const double weight =
        std::exp(-x * x / 2) * (errors == 0 ? 1 : std::pow(noise / (1 - noise), errors));
    total += weight;
    mean += weight * x;
    below += x < at ? weight : 0;
  }
  bpm::RandomEngine engine(4, 100);
  bpm::NormalDraws normal;
  GibbsPieces pieces;
  const GibbsPenalty penalty(noise > 0 ? GibbsPenalty::beta_of(noise) : 0, m);
  double drawn = 0;
  LinePoint point{};
  constexpr int draws = 20'000;
  for (int k = 0; k < draws; ++k) {
    point =
        noise == 0
            ? point_of_free_line(o.d.data(), o.p.data(), m, at, norm * feature, normal, engine)
            : pieces.draw(o.d.data(), o.p.data(), m, at, norm * feature, penalty, normal, engine);
    drawn += point.place < at ? 1.0 / draws : 0;
  }
  CHECK(std::abs(point.mean - mean / total) < 5e-3);
  CHECK(std::abs(drawn - below / total) < 0.025);
}
