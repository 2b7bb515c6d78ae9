// SPDX-License-Identifier: MIT
#include "bpm/samplers/chains/convergence.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "catch.hpp"
#include "gibbs_problems.hpp"

using bpm::detail::agreement_of;
using bpm::detail::ChainValues;

namespace {

/// Chains of x' = phi x + e, with a mean and a scale.
ChainValues autoregressions(std::size_t chains, std::size_t n, double phi, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  bpm::NormalDraws normal;
  ChainValues values(chains, std::vector<double>(n));
  for (auto& chain : values) {
    double x = normal(engine) / std::sqrt(1 - phi * phi);
    for (double& value : chain) value = x = phi * x + normal(engine);
  }
  return values;
}

}  // namespace

TEST_CASE("R-hat and effective draws: numbers from the paper's formulas by SciPy", "[samplers]") {
  ChainValues x(3, std::vector<double>(41));
  ChainValues y(2, std::vector<double>(41));
  for (std::size_t k = 0; k < 41; ++k) {
    const auto t = static_cast<double>(k);
    for (std::size_t c = 0; c < 3; ++c) {
      const auto own = static_cast<double>(c);
      x[c][k] = std::sin(1.7 * t * t + own) + 0.3 * own * std::cos(0.2 * t);
      if (c < 2) y[c][k] = std::round(3 * std::sin(0.4 * t * (own + 1))) * (1 + own);  // With ties.
    }
  }
  CHECK(agreement_of(x).r_hat == Approx(0.9939081966087528).epsilon(1e-8));
  CHECK(agreement_of(x).effective_draws == Approx(112.46896111523928).epsilon(1e-8));
  CHECK(agreement_of(y).r_hat == Approx(1.19650770006516).epsilon(1e-8));
  CHECK(agreement_of(y).effective_draws == Approx(34.138941058186404).epsilon(1e-8));
}

TEST_CASE("R-hat of distances from the median, and the rules of Geyer's sequence, by hand",
          "[samplers]") {
  // The definitions once more in Python. Of an even number of values the median is between the
  // middle two (by the upper one R-hat would be 1.3137): here the scales differ, not the places.
  ChainValues scales(2, std::vector<double>(12));
  // Pairs of autocorrelations that rise again: without the minimum of all before, 6.5.
  ChainValues waves(2, std::vector<double>(60));
  // Draws that alternate are worth more than as many independent ones, at most S log10 S.
  ChainValues turns(2, std::vector<double>(40));
  for (std::size_t c = 0; c < 2; ++c) {
    const auto own = static_cast<double>(c);
    for (std::size_t k = 0; k < 60; ++k) {
      const auto t = static_cast<double>(k);
      if (k < 12) scales[c][k] = std::sin(1.3 * t * t + own) * (c == 0 ? 1 : 3);
      waves[c][k] =
          std::sin(0.05 * t + own) + 0.7 * std::cos(t + own) + 0.2 * std::sin(2.3 * t * t);
      if (k < 40) turns[c][k] = (k % 2 == 0 ? 1 : -1) * (1 + 0.1 * std::sin(t * t + own));
    }
  }
  CHECK(agreement_of(scales).r_hat == Approx(1.2943905889428042).epsilon(1e-8));
  CHECK(agreement_of(waves).effective_draws == Approx(14.768539254638924).epsilon(1e-8));
  CHECK(agreement_of(turns).effective_draws == Approx(80 * std::log10(80.0)).epsilon(1e-12));
}

TEST_CASE("of several outputs the worst R-hat and the fewest draws count, from 16 draws on",
          "[samplers]") {
  const bpm::Cone cone = sampler_tests::orthant_cone(3);
  const std::vector<std::ptrdiff_t> points{0, 1, 2};
  const auto agreement = [&](std::uint64_t draws, std::size_t slow) {
    std::vector<bpm::detail::OutputSeries> series(2);
    std::vector<double> position(static_cast<std::size_t>(cone.stride()), 0.0);
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::uint64_t draw = 1; draw <= draws; ++draw) {
        for (std::size_t j = 0; j < 3; ++j) {
          const auto t = static_cast<double>(draw + 100 * c + 1000 * j);
          position[j] = j == slow ? static_cast<double>(draw) : std::sin(1.7 * t * t);
        }
        series[c].add(draw, cone, position.data(), points);
      }
    }
    return agreement_of(series, 3);
  };
  for (const std::size_t slow : {0U, 1U, 2U}) {
    CAPTURE(slow);
    CHECK(agreement(100, slow).effective_draws < 30);  // Of 200; the others are worth 150 and more.
    CHECK(agreement(100, slow).r_hat > 1.2);
  }
  CHECK(agreement(100, 3).effective_draws > 100);
  CHECK(agreement(15, 3).effective_draws == 0);
  CHECK(agreement(15, 3).r_hat == 0);
  CHECK(agreement(16, 3).effective_draws > 0);
  CHECK(agreement(16, 3).r_hat > 0);
}

TEST_CASE("effective draws of autoregressions are (1 - phi) / (1 + phi) of all", "[samplers]") {
  for (const double phi : {0.0, 0.5, 0.9, -0.3}) {
    double mean = 0;
    double r_hat = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const ChainValues values = autoregressions(4, 500, phi, seed);
      mean += agreement_of(values).effective_draws / 2000 / 20;
      r_hat += agreement_of(values).r_hat / 20;
    }
    CAPTURE(phi, mean, r_hat);
    CHECK(mean == Approx((1 - phi) / (1 + phi)).epsilon(0.15));
    CHECK(r_hat < 1.05);
    CHECK(r_hat >= 0.999);
  }
}

TEST_CASE("R-hat tells of chains that disagree in place, in scale, or with their own beginning",
          "[samplers]") {
  const ChainValues values = autoregressions(4, 400, 0.3, 1);
  CHECK(agreement_of(values).r_hat < 1.02);
  ChainValues apart = values;
  for (double& value : apart[0]) value += 2;
  CHECK(agreement_of(apart).r_hat > 1.2);
  CHECK(agreement_of(apart).effective_draws < 20);
  ChainValues wide = values;
  for (double& value : wide[0]) value *= 4;
  CHECK(agreement_of(wide).r_hat > 1.1);
  ChainValues drifting = values;
  for (auto& chain : drifting) {
    for (std::size_t k = 0; k < 200; ++k) chain[k] += 2;
  }
  CHECK(agreement_of(drifting).r_hat > 1.2);
  // What does not move at all: alike, or each somewhere else.
  CHECK(agreement_of(ChainValues(3, std::vector<double>(20, 1.5))).r_hat == 1);
  CHECK(agreement_of(ChainValues(3, std::vector<double>(20, 1.5))).effective_draws == 60);
  const ChainValues stuck{std::vector<double>(20, 1), std::vector<double>(20, 2)};
  CHECK(agreement_of(stuck).r_hat == std::numeric_limits<double>::infinity());
}

TEST_CASE("chains report R-hat of their outputs; stuck ones are found out", "[samplers]") {
  const bpm::Cone cone = sampler_tests::orthant_cone(30);
  const auto points = bpm::detail::OutputSeries::points_of(30);
  CHECK(points.size() == 20);
  CHECK(bpm::detail::OutputSeries::points_of(7).size() == 7);
  CHECK(bpm::detail::OutputSeries::points_of(30) == points);
  // Memory stays bounded, and what is kept is equally spaced.
  bpm::detail::OutputSeries series;
  std::vector<double> position(static_cast<std::size_t>(cone.stride()), 0.0);
  for (std::uint64_t draw = 1; draw <= 5000; ++draw) {
    position[0] = static_cast<double>(draw);
    series.add(draw, cone, position.data(), std::vector<std::ptrdiff_t>{0});
  }
  CHECK(series.size(1) >= 256);
  CHECK(series.size(1) < 512);
  const double step = series.at(1, 0, 1) - series.at(0, 0, 1);
  for (std::size_t k = 1; k < series.size(1); ++k) {
    REQUIRE(series.at(k, 0, 1) - series.at(k - 1, 0, 1) == Approx(step));
  }
  // Chains of one spacing and another, at 511 draws and 513: the same draws of both are compared.
  const auto series_of = [&](std::uint64_t draws, std::uint64_t of_every) {
    bpm::detail::OutputSeries result;
    for (std::uint64_t draw = of_every; draw <= draws; draw += of_every) {
      position[0] = std::sin(0.1 * static_cast<double>(draw * draw));
      result.add(draw, cone, position.data(), std::vector<std::ptrdiff_t>{0});
    }
    return result;
  };
  const std::vector mixed{series_of(511, 1), series_of(513, 1)};
  CHECK(mixed[0].spacing() == 1);
  CHECK(mixed[1].spacing() == 2);
  ChainValues every_other(2);
  for (std::uint64_t draw = 2; draw <= 510; draw += 2) {
    for (auto& chain : every_other) {
      chain.push_back(mixed[0].at(static_cast<std::size_t>(draw) - 1, 0, 1));
    }
  }
  every_other[1].erase(every_other[1].begin());
  every_other[1].push_back(mixed[1].at(255, 0, 1));
  const auto agreement = agreement_of(mixed, 1);
  CHECK(agreement.r_hat == agreement_of(every_other).r_hat);
  CHECK(agreement.effective_draws == agreement_of(every_other).effective_draws);
  // As a file may have it: 7 values of 20 points each are no draws.
  bpm::detail::OutputSeries damaged;
  bpm::detail::OutputSeries::visit_members(damaged, [](const char*, auto& member, auto&&...) {
    if constexpr (requires { member.assign(7, 1.0); }) member.assign(7, 1.0);
  });
  CHECK_NOTHROW(damaged.after_reading(7));
  CHECK_THROWS_WITH(damaged.after_reading(30),
                    "chain: series has 7 values, must be a multiple of 20 below 10240");
  CHECK(agreement_of(std::vector<bpm::detail::OutputSeries>(2), 20).r_hat == 0);

  const auto report_of = [&](const bpm::Billiard& sampler) {
    bpm::RandomStreams streams{.seed = 3};
    bpm::Billiard::State state;
    std::vector<double> inside = cone.coordinates(std::vector<double>(30, 1 / std::sqrt(30.0)));
    return *sampler
                .sample(
                    cone, inside, streams, {}, [](const bpm::Draw&) {}, state)
                .chains;
  };
  const bpm::ChainReport well = report_of({.draws = 400, .bounces_per_draw = 200, .chains = 4});
  CHECK(well.r_hat < 1.05);
  CHECK(well.bulk_effective_draws > 150);
  const bpm::ChainReport hardly =
      report_of({.draws = 400, .bounces_per_draw = 1, .chains = 4, .burn_in = 1});
  CHECK(hardly.r_hat > 1.1);
  CHECK(hardly.bulk_effective_draws < 100);
  bpm::ChainReport merged = well;
  merged.merge(hardly);
  CHECK(merged.r_hat == hardly.r_hat);
  CHECK(merged.bulk_effective_draws == hardly.bulk_effective_draws);
}
