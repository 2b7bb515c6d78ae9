// SPDX-License-Identifier: MIT
#include "bpm/samplers/gibbs/gibbs_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/core/random.hpp"
#include "catch.hpp"
#include "gibbs_problems.hpp"

using bpm::detail::GibbsMove;
using bpm::detail::GibbsState;
using sampler_tests::orthant_cone;

namespace {

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double square = 0;
  for (std::size_t k = 0; k < a.size(); ++k) square += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(square);
}

double smallest(const GibbsState& state, std::ptrdiff_t points) {
  return *std::min_element(state.d.begin(), state.d.begin() + points);
}

}  // namespace

TEST_CASE("a state that drifted outside is brought back, hardly moved, and counted") {
  const bpm::Cone cone = orthant_cone(3);
  GibbsState state(cone, std::vector<double>{1.0, 1.0, 1.0}, true);
  state.remember();
  const double drift = GENERATE(0.0, 1e-17, 1e-9, 0.5);
  CAPTURE(drift);
  state.x[0] = -drift;
  const std::vector<double> before = state.x;
  state.settle(cone);
  CHECK(state.repairs == 1);
  CHECK(smallest(state, 3) > 0);
  CHECK(std::abs(bpm::detail::dot(state.x.data(), state.x.data(), cone.stride()) - 1) < 1e-13);
  if (drift < 1e-6) {
    std::vector<double> scaled = before;
    bpm::detail::normalise(scaled);
    CHECK(distance(state.x, scaled) < 10 * drift + 1e-14);
  }
  state.settle(cone);
  CHECK(state.repairs == 1);
  CHECK(state.x == state.inside);
}

TEST_CASE("where nothing between helps the state goes back to the place seen inside") {
  const bpm::Cone cone = orthant_cone(3);
  GibbsState state(cone, std::vector<double>{1.0, 1.0, 1.0}, true);
  state.remember();
  const std::vector<double> inside = state.x;
  for (double& value : state.x) value = -value;
  state.settle(cone);
  CHECK(state.repairs == 1);
  CHECK(state.x == inside);
  CHECK(smallest(state, 3) > 0);
}

TEST_CASE("with noise a state may be anywhere") {
  const bpm::Cone cone = orthant_cone(3);
  GibbsState state(cone, std::vector<double>{1.0, -1.0, 1.0}, false);
  state.settle(cone);
  CHECK(state.repairs == 0);
  CHECK(smallest(state, 3) < 0);
  const std::vector<double> before = state.d;
  state.flip();
  CHECK(state.d[0] == -before[0]);
  CHECK(state.x[1] > 0);
}

TEST_CASE("moves that would leave are drawn again, and given up after some trials") {
  const bpm::Cone cone = orthant_cone(2);
  GibbsState state(cone, std::vector<double>{1.0, 1.0}, true);
  state.remember();
  const std::vector<double> p(static_cast<std::size_t>(cone.output_stride()), -1.0);
  int calls = 0;
  GibbsMove to{};
  const auto inside_at_last = [&]() -> GibbsMove {
    ++calls;
    return {1.0, calls < 4 ? 5.0 : 0.25, 0, 0};
  };
  CHECK(state.try_outputs(2, p.data(), inside_at_last, to));
  CHECK(to.of_z == 0.25);
  CHECK(calls == 4);
  CHECK(state.repairs == 0);
  CHECK(std::abs(state.d[0] - (std::sqrt(0.5) - 0.25)) < 1e-15);
  CHECK_FALSE(state.try_outputs(
      2, p.data(),
      [] {
        return GibbsMove{1.0, 5.0, 0, 0};
      },
      to));
  CHECK(state.repairs == 1);
  CHECK(std::abs(state.d[0] - (std::sqrt(0.5) - 0.25)) < 1e-15);
}

TEST_CASE("a move takes the outputs with it, at every length, and is made where none is negative") {
  for (std::ptrdiff_t m = 1; m <= 40; ++m) {
    CAPTURE(m);
    const bpm::Cone cone = orthant_cone(m);
    GibbsState state(cone, std::vector<double>(static_cast<std::size_t>(m), 1.0), true);
    bpm::RandomEngine engine(static_cast<std::uint64_t>(m), 101);
    bpm::NormalDraws normal;
    std::vector<double> p;
    std::vector<double> sums;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      state.d[static_cast<std::size_t>(i)] = 0.1 + bpm::uniform_unit(engine);
      p.push_back(normal(engine));
      sums.push_back(0.5 * state.d[static_cast<std::size_t>(i)] - 2.0 * p.back());
    }
    state.next_d.push_back(77.0);
    const bool inside = *std::min_element(sums.begin(), sums.end()) > 0;
    const auto draw = [] { return GibbsMove{0.5, -2.0, 0, 0}; };
    GibbsMove to{};
    CHECK(state.try_outputs(m, p.data(), draw, to) == inside);
    state.hard = false;
    if (!inside) CHECK(state.try_outputs(m, p.data(), draw, to));
    for (std::size_t i = 0; i < sums.size(); ++i) CHECK(std::abs(state.d[i] - sums[i]) < 1e-14);
    CHECK(state.d.back() == 77.0);
  }
}
