// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/version_space/cone.hpp"
#include "common/billiard_chain.hpp"

/// \file
/// What the paper watches while the ball bounces.

namespace bpm_examples {

/// y[i] = 0.99 y[i-1] + 0.01 x[i], from y = 0.
class ChangeFilter {
 public:
  void add(double change) noexcept { value_ = 0.99 * value_ + 0.01 * change; }
  [[nodiscard]] double value() const noexcept { return value_; }

 private:
  double value_ = 0;
};

/// The filtered L1 change, from bounce to bounce, of the dual coefficients of the running centre at
/// norm 1.
class CentreChange {
 public:
  void add(const bpm::CentreOfMass& centre) {
    if (!last_.empty()) {
      double change = 0;
      for (std::size_t i = 0; i < last_.size(); ++i) {
        change += std::abs(centre.coefficients[i] / centre.norm - last_[i]);
      }
      filter_.add(change);
    }
    last_.resize(centre.coefficients.size());
    for (std::size_t i = 0; i < last_.size(); ++i) {
      last_[i] = centre.coefficients[i] / centre.norm;
    }
  }
  [[nodiscard]] double value() const noexcept { return filter_.value(); }

 private:
  std::vector<double> last_;
  ChangeFilter filter_;
};

/// The largest distance between two bounces that follow each other.
class LargestHop {
 public:
  /// `position`: coordinates of the ball at a bounce.
  template <class Position>
  void add(const Position& position, std::ptrdiff_t rank) {
    double squared = 0;
    for (std::ptrdiff_t k = 0; !last_.empty() && k < rank; ++k) {
      const double step =
          position[static_cast<std::size_t>(k)] - last_[static_cast<std::size_t>(k)];
      squared += step * step;
    }
    largest_ = std::max(largest_, std::sqrt(squared));
    last_.assign(position.begin(), position.begin() + rank);
  }
  [[nodiscard]] double value() const noexcept { return largest_; }

 private:
  std::vector<double> last_;
  double largest_ = 0;
};

/// What is known after a number of bounces.
struct Course {
  bpm::CentreOfMass centre;
  double delta_alpha = 0;
  double lambda_max = 0;
};

/// Bounces that the filter remembers: what lies further back has a weight below 1e-13.
inline constexpr std::uint64_t filter_memory = 3000;

/// The centre of mass of the path flown so far: for the geodesic flight the integral of the
/// position over it, to rounding, for the published one its spherical average.
/// `BilliardChain::centre` gives a better estimate of version space's centre, by another sum, with
/// coefficients on other points; changes of coefficients compare only where both flights are
/// treated alike, and the paper watches the path. The coefficients stand on the pivots of the
/// cone's factor.
[[nodiscard]] inline bpm::CentreOfMass path_centre(BilliardChain& chain, const bpm::Cone& cone) {
  const auto m = static_cast<std::size_t>(cone.points());
  bpm::CentreOfMass centre{std::vector<double>(m, 0.0), std::vector<double>(m, 0.0), 0};
  std::vector<double> x(static_cast<std::size_t>(cone.stride()), 0.0);
  chain.add_inside_sum(cone, 1 / chain.path_length(cone), x.data());
  cone.add_dual_coefficients(x.data(), 1, centre.coefficients.data());
  cone.outputs(x.data(), centre.outputs.data());
  double squared = 0;
  for (const double coordinate : x) squared += coordinate * coordinate;
  centre.norm = std::sqrt(squared);
  for (std::size_t i = 0; i < m; ++i) {
    centre.outputs[i] *= cone.label(static_cast<std::ptrdiff_t>(i));
  }
  return centre;
}

/// Watches a chain for `bounces` bounces. With `each`, a function of the bounce's number and the
/// filtered change, the centre is worked out at every bounce; without, at the last `filter_memory`
/// only, which tells the same.
[[nodiscard]] inline Course follow(
    BilliardChain& chain, const bpm::Cone& cone, std::uint64_t bounces,
    const std::function<void(std::uint64_t, double)>& each = nullptr) {
  CentreChange change;
  LargestHop hop;
  for (std::uint64_t n = 1; n <= bounces; ++n) {
    chain.bounce(cone);
    hop.add(chain.position(cone), cone.rank());
    if (each || n + filter_memory > bounces) {
      change.add(path_centre(chain, cone));
      if (each) each(n, change.value());
    }
  }
  return {path_centre(chain, cone), change.value(), hop.value()};
}

}  // namespace bpm_examples
