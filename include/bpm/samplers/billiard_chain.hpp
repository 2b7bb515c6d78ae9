// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bpm/random/engine.hpp"
#include "bpm/samplers/chain_report.hpp"
#include "bpm/samplers/detail/chain_centre.hpp"
#include "bpm/samplers/geodesic_chain.hpp"
#include "bpm/samplers/published_chain.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm {

/// How a billiard ball flies between planes.
enum class Flight {
  geodesic,   ///< On great circles, with new directions: samples the uniform law.
  published,  ///< Straight, as in the papers: biased; to compare with.
};

struct BilliardChainSettings {
  Flight flight = Flight::geodesic;
  double refresh_length = 0;  ///< Geodesic flight: 0: chosen in the burn-in, 8 without one.
  std::uint64_t bounces_per_draw = 1000;
  std::uint64_t burn_in = 0;  ///< Geodesic flight: bounces; 0: chosen.
};

/// A billiard of either flight, for those who run it bounce by bounce: to watch it converge or to
/// draw its path. `Billiard` runs several at once and hands over draws.
///
///     bpm::Cone cone = bpm::make_cone(space);
///     cone.form_products();
///     const auto start = bpm::find_largest_margin(cone).position;
///     bpm::BilliardChain chain(cone, {}, start, bpm::RandomEngine(1));
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
  /// `start`: coordinates of a point inside, any norm. `cone.form_products()` must have been
  /// called.
  BilliardChain(const Cone& cone, const BilliardChainSettings& settings,
                std::span<const double> start, RandomEngine engine) {
    if (settings.flight == Flight::geodesic) {
      geodesic_.emplace(
          cone,
          GeodesicSettings{settings.refresh_length, settings.bounces_per_draw, settings.burn_in},
          start, engine);
    } else {
      published_.emplace(cone, PublishedSettings{settings.bounces_per_draw}, start, engine);
    }
  }

  /// One bounce: O(m), and O(m r) at a new direction.
  void bounce(const Cone& cone) {
    visit([&](auto& chain) { chain.bounce(cone); });
  }

  /// Where the ball stands, after `bounce` on a plane: `Cone::stride()` coordinates, norm 1. O(m r)
  /// at worst.
  [[nodiscard]] std::vector<double> position(const Cone& cone) {
    if (published_) {
      const auto ball = published_->ball();
      return {ball.begin(), ball.end()};
    }
    geodesic_->anchor(cone);
    const auto here = geodesic_->position();
    return {here.begin(), here.end()};
  }
  /// Its direction: tangent for the geodesic flight.
  [[nodiscard]] std::vector<double> direction(const Cone& cone) {
    visit([&](auto& chain) { chain.anchor(cone); });
    const auto v = visit([](const auto& chain) { return chain.direction(); });
    return {v.begin(), v.end()};
  }
  /// The centre of the path so far. O(m r).
  [[nodiscard]] CentreOfMass centre(const Cone& cone) {
    visit([&](auto& chain) { chain.anchor(cone); });
    return std::as_const(*this).visit(
        [&](const auto& chain) { return detail::centre_of(cone, std::span(&chain, 1)); });
  }
  /// Length of the path so far: angle, or for the published flight sum of chords.
  [[nodiscard]] double path_length(const Cone& cone) {
    visit([&](auto& chain) { chain.anchor(cone); });
    return weight();
  }

  // What a run of chains needs; see the two flights.
  bool burn_in(const Cone& cone, std::uint64_t limit) {
    return visit([&](auto& chain) { return chain.burn_in(cone, limit); });
  }
  bool advance(const Cone& cone, std::uint64_t limit) {
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
  void add_sum(const Cone& cone, double scale, double* x) const {
    visit([&](const auto& chain) { chain.add_sum(cone, scale, x); });
  }
  void add_dual_sum(const Cone& cone, double scale, double* alpha) const {
    visit([&](const auto& chain) { chain.add_dual_sum(cone, scale, alpha); });
  }
  void add_inside_sum(const Cone& cone, double scale, double* x) const {
    visit([&](const auto& chain) { chain.add_inside_sum(cone, scale, x); });
  }

 private:
  std::optional<GeodesicChain> geodesic_;
  std::optional<PublishedChain> published_;
};

}  // namespace bpm
