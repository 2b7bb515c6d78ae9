// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/samplers/billiard/geodesic_chain.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/version_space/cone.hpp"
#include "common/published_billiard.hpp"

namespace bpm_examples {

/// How a billiard ball flies between planes.
enum class Flight {
  geodesic,   ///< On great circles, with new directions: samples the uniform law.
  published,  ///< Straight, as in the papers: biased; to compare with.
};

inline void check_door(const bpm::Cone& cone, double refresh_length, std::uint64_t bounces_per_draw,
                       std::span<const double> start) {
  const char* const f = "BilliardChain";
  bpm::detail::check(cone.has_products(), f, "cone", "has no products, call form_products() first");
  bpm::detail::check(refresh_length == 0 || refresh_length >= 1e-3, f, "refresh_length", "is ",
                     refresh_length, ", must be at least 0.001, or 0 to have it chosen");
  bpm::detail::check(bounces_per_draw >= 1, f, "bounces_per_draw", "is 0, must be 1 or more");
  const std::ptrdiff_t given = std::ssize(start);
  bpm::detail::check(given == cone.rank() || given == cone.stride(), f, "start", "has ", given,
                     " coordinates, expected ", cone.rank());
  std::vector<double> x(static_cast<std::size_t>(cone.stride()), 0.0);
  for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) {
    const double value = start[static_cast<std::size_t>(k)];
    bpm::detail::check(std::isfinite(value), f, "start", "at ", k, " is ", value,
                       ", must be finite");
    x[k] = value;
  }
  std::vector<double> d(static_cast<std::size_t>(cone.points()));
  cone.outputs(x.data(), d.data());
  for (std::size_t i = 0; i < d.size(); ++i) {
    bpm::detail::check(d[i] > 0, f, "start", "has the signed output ", d[i], " at point ", i,
                       ", must be positive everywhere");
  }
}

struct BilliardChainSettings {
  Flight flight = Flight::geodesic;
  double refresh_length = 0;  ///< Geodesic flight: 0: chosen in the burn-in, 8 without one.
  std::uint64_t bounces_per_draw = 1000;
  std::uint64_t burn_in = 0;  ///< Geodesic flight: bounces; 0: chosen.
};

/// A billiard of either flight, for those who run it bounce by bounce: to watch it converge or to
/// draw its path. `bpm::Billiard` runs several at once and hands over draws.
///
///     bpm::Cone cone = bpm::Cone(space);
///     cone.form_products();
///     const auto start = bpm::LargestMargin::find(cone).position;
///     BilliardChain chain(cone, {}, start, bpm::RandomEngine(1));
///     for (int n = 0; n < 50000; ++n) chain.bounce(cone);
///     const bpm::CentreOfMass centre = chain.centre(cone);
class BilliardChain {
  template <class Call>
  decltype(auto) visit(Call&& call) {
    return geodesic_ ? call(*geodesic_) : call(*published_);
  }
  template <class Call>
  decltype(auto) visit(Call&& call) const {
    return geodesic_ ? call(*geodesic_) : call(*published_);
  }

 public:
  /// `start`: coordinates of a point inside, any norm.
  /// \throws std::invalid_argument if `cone.form_products()` has not been called, or on a start of
  ///         the wrong size, not finite or outside, or settings out of range.
  template <class Engine = bpm::RandomEngine>
  BilliardChain(const bpm::Cone& cone, const BilliardChainSettings& settings,
                std::span<const double> start, std::type_identity_t<Engine> engine) {
    check_door(cone, settings.refresh_length, settings.bounces_per_draw, start);
    if (settings.flight == Flight::geodesic) {
      geodesic_.emplace(cone,
                        bpm::detail::GeodesicSettings{settings.refresh_length,
                                                      settings.bounces_per_draw, settings.burn_in},
                        start, engine);
    } else {
      published_.emplace(cone, PublishedSettings{settings.bounces_per_draw}, start, engine);
    }
  }

  /// One bounce: O(m), and O(m r) at a new direction.
  void bounce(const bpm::Cone& cone) {
    visit([&](auto& chain) { chain.bounce(cone); });
  }

  /// Where the ball stands, after `bounce` on a plane: `Cone::stride()` coordinates, norm 1. O(m r)
  /// at worst.
  [[nodiscard]] std::vector<double> position(const bpm::Cone& cone) {
    if (published_) {
      const auto ball = published_->ball();
      return {ball.begin(), ball.end()};
    }
    geodesic_->anchor(cone);
    const auto here = geodesic_->position();
    return {here.begin(), here.end()};
  }
  /// Its direction: tangent for the geodesic flight.
  [[nodiscard]] std::vector<double> direction(const bpm::Cone& cone) {
    visit([&](auto& chain) { chain.anchor(cone); });
    const auto v = visit([](const auto& chain) { return chain.direction(); });
    return {v.begin(), v.end()};
  }
  /// The centre of the path so far. O(m r).
  [[nodiscard]] bpm::CentreOfMass centre(const bpm::Cone& cone) {
    visit([&](auto& chain) { chain.anchor(cone); });
    return std::as_const(*this).visit(
        [&](const auto& chain) { return bpm::detail::centre_of(cone, std::span(&chain, 1)); });
  }
  /// Length of the path so far: angle, or for the published flight sum of chords.
  [[nodiscard]] double path_length(const bpm::Cone& cone) {
    visit([&](auto& chain) { chain.anchor(cone); });
    return weight();
  }

  // What a run of chains needs; see the two flights.
  bool burn_in(const bpm::Cone& cone, std::uint64_t limit) {
    return visit([&](auto& chain) { return chain.burn_in(cone, limit); });
  }
  bool advance(const bpm::Cone& cone, std::uint64_t limit) {
    return visit([&](auto& chain) { return chain.advance(cone, limit); });
  }
  [[nodiscard]] std::span<const double> position() const {
    return visit([](const auto& chain) { return chain.position(); });
  }
  [[nodiscard]] double weight() const {
    return visit([](const auto& chain) { return chain.weight(); });
  }
  [[nodiscard]] std::uint64_t bounces() const {
    return visit([](const auto& chain) { return chain.bounces(); });
  }
  [[nodiscard]] std::uint64_t refreshes() const {
    return visit([](const auto& chain) { return chain.refreshes(); });
  }
  [[nodiscard]] std::uint64_t repairs() const {
    return visit([](const auto& chain) { return chain.repairs(); });
  }
  [[nodiscard]] std::uint64_t burnt() const {
    return visit([](const auto& chain) { return chain.burnt(); });
  }
  [[nodiscard]] double refresh_length() const {
    return visit([](const auto& chain) { return chain.refresh_length(); });
  }
  void add_sum(const bpm::Cone& cone, double scale, double* x) const {
    visit([&](const auto& chain) { chain.add_sum(cone, scale, x); });
  }
  void add_dual_sum(const bpm::Cone& cone, double scale, double* alpha) const {
    visit([&](const auto& chain) { chain.add_dual_sum(cone, scale, alpha); });
  }
  void add_inside_sum(const bpm::Cone& cone, double scale, double* x) const {
    visit([&](const auto& chain) { chain.add_inside_sum(cone, scale, x); });
  }

 private:
  std::optional<bpm::detail::GeodesicChain> geodesic_;
  std::optional<PublishedChain> published_;
};

}  // namespace bpm_examples
