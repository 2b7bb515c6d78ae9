// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/billiard/facet_search.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/chains/chain_run.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm_examples {

/// How a published chain flies.
struct PublishedSettings {
  std::uint64_t bounces_per_draw = 1000;
};

/// The billiard as it was published ("Robust Bayes Point Machines", section 2), with the
/// corrections of "Convergence of the Bayes Point Machine", section 2, at O(m) a bounce instead of
/// O(m^2).
///
/// The ball flies straight from b in direction v to the plane of the smallest positive
/// tau_i = -d_i / nu_i, never the one just hit; b + tau v is normalised; v is reflected at s_c (by
/// 2 nu_c / norm(s_c)^2: the paper's update holds where K_cc = 1). Where no tau is positive the
/// ball escapes, and flies on in a new direction v with <v, s_l> > 0, l the last plane (5): one of
/// uniform dual coefficients in [-1, 1], as in the authors' code, which is not isotropic. The
/// centre w is the chord-length weighted spherical average of the chords' midpoints m:
/// w' = rho_1 w + rho_2 m with mu = Lambda_{n-1} / (Lambda_{n-1} + lambda_n), c = <w, m> and
///
///     rho_1 = mu sqrt((2 - mu^2 (1 - c)) / (1 + c)),    rho_2 = 1 - mu^2 (1 - c) - rho_1 c,
///
/// which is the paper's choice of sign wherever w and m differ. Its law is not the uniform one: a
/// straight line in a cone has finitely many bounces, so the ball always escapes in the end, and
/// where it goes between escapes depends on where it started. The error does not fall to zero; see
/// docs/samplers.md for the measured bias. Here to compare with. A spherical average has norm 1, so
/// `ChainReport::mean_norm` and `effective_draws` say nothing for it.
class PublishedChain {
 public:
  /// `start`: coordinates of a point inside, `rank` or `stride` of them, any norm. The cone has
  /// products.
  PublishedChain(const bpm::Cone& cone, const PublishedSettings& settings,
                 std::span<const double> start, bpm::RandomEngine engine)
      : settings_(settings),
        engine_(engine),
        b_(cone.stride(), 0.0),
        v_(cone.stride(), 0.0),
        centre_(cone.stride(), 0.0),
        position_(cone.stride(), 0.0),
        from_(cone.stride(), 0.0),
        middle_(cone.stride(), 0.0),
        there_(cone.stride(), 0.0),
        d_(cone.output_stride(), 0.0),
        nu_(cone.output_stride(), 0.0),
        still_(cone.rank() == 1) {
    const std::ptrdiff_t given = std::min<std::ptrdiff_t>(std::ssize(start), cone.rank());
    std::copy_n(start.data(), given, b_.data());
    normalise(b_);
    position_ = b_;
    if (!still_) {
      cone.outputs(b_.data(), d_.data());
      new_direction(cone);
      refreshes_ = 0;
    }
  }

  /// There is none in the paper; 1024 bounces measure the free path, which sets the path between
  /// draws.
  bool burn_in(const bpm::Cone& cone, std::uint64_t limit) {
    constexpr std::uint64_t measured = 1024;
    const std::uint64_t end = bounces_ + limit;
    while (!still_ && !sampling_ && bounces_ < measured) {
      if (bounces_ >= end) {
        return false;
      }
      bounce(cone);
    }
    if (!sampling_) {
      spacing_ = still_ ? 1.0
                        : static_cast<double>(settings_.bounces_per_draw) * path_ /
                              static_cast<double>(bounces_);
      next_draw_ = spacing_;
      burnt_ = bounces_;
      bounces_ = 0;
      refreshes_ = 0;
      path_ = 0;
      sampling_ = true;
    }
    return true;
  }

  /// Runs at most `limit` bounces towards the next draw; true when one was passed. The draw lies on
  /// the last flight, where the path has its length.
  bool advance(const bpm::Cone& cone, std::uint64_t limit) {
    if (still_) {
      bounces_ += settings_.bounces_per_draw;  // So that budgets of bounces end.
      path_ += 1;
      centre_ = b_;
      return true;
    }
    for (std::uint64_t n = 0; n < limit; ++n) {
      if (path_ >= next_draw_) {
        next_draw_ += spacing_;  // More than one on a flight: it stays for both.
        return true;
      }
      const double before = path_;
      bounce(cone);
      if (path_ >= next_draw_) {
        // Where on the chord the path has its length.
        const double part = (next_draw_ - before) / (path_ - before);
        bpm::detail::combine(position_.data(), 1 - part, from_.data(), part, b_.data(),
                             cone.stride());
        normalise(position_);
        next_draw_ += spacing_;
        return true;
      }
    }
    return false;
  }

  /// One bounce, after as many escapes as it takes.
  void bounce(const bpm::Cone& cone) {
    ++bounces_;
    if (still_) {
      path_ += 1;
      centre_ = b_;
      return;
    }
    const std::ptrdiff_t length = cone.stride();
    for (int tries = 0; !(facet_.towards > 0); ++tries) {
      if (tries == most_tries) {
        aim(cone);
        break;
      }
      new_direction(cone);
    }
    const double tau = std::max(0.0, facet_.distance) / facet_.towards;
    from_ = b_;
    bpm::detail::combine(there_.data(), 1.0, b_.data(), tau, v_.data(), length);
    const double norm = std::sqrt(bpm::detail::dot(there_.data(), there_.data(), length));
    // The angle of the flight on the sphere, and its chord 2 sin(angle / 2), without cancellation.
    const double cosine = std::min(1.0, (1 + tau * along_) / norm);
    const double sine = tau * std::sqrt(std::max(0.0, 1 - along_ * along_)) / norm;
    const double chord = sine * std::sqrt(2 / (1 + cosine));
    const std::ptrdiff_t hit = facet_.index;
    const double* row = cone.product_row(hit);
    const double jump = -2 * nu_[hit] / row[hit];
    const double half = 1 / std::sqrt(2 * (1 + cosine));  // 1 / norm(b + b').
    for (std::ptrdiff_t k = 0; k < length; ++k) {
      const double there = there_[k] / norm;
      middle_[k] = half * (b_[k] + there);
      b_[k] = there;
    }
    bpm::detail::add_scaled(v_.data(), jump, cone.row(hit), length);
    take_midpoint(chord);
    facet_ = bpm::detail::fly_and_search(
        d_.data(), nu_.data(), row, {1 / norm, tau / norm, 1.0, 0.0, jump}, cone.output_stride());
    d_[hit] = 0;
    last_ = hit;
    along_ = bpm::detail::dot(b_.data(), v_.data(), length);
    if (++events_ >= 1000) {
      events_ = 0;
      normalise(v_);
      along_ = bpm::detail::dot(b_.data(), v_.data(), length);
      set_outputs(cone);
    }
  }

  /// Brings the coordinates up to date: they always are.
  void anchor(const bpm::Cone& /*cone*/) const noexcept {}
  /// The last draw: a point of a flight.
  [[nodiscard]] std::span<const double> position() const noexcept { return position_.span(); }
  /// The last chord's, on the sphere.
  [[nodiscard]] std::span<const double> midpoint() const noexcept { return middle_.span(); }
  [[nodiscard]] std::span<const double> direction() const noexcept { return v_.span(); }
  /// Where the ball stands: on the plane it hit last.
  [[nodiscard]] std::span<const double> ball() const noexcept { return b_.span(); }
  /// Sum of the chords.
  [[nodiscard]] double weight() const noexcept { return path_; }
  [[nodiscard]] static std::uint64_t step_work(const bpm::Cone& cone) noexcept {
    return 80 + 2 * static_cast<std::uint64_t>(cone.points());
  }
  void add_to(bpm::ChainReport& report) const {
    report.steps += bounces_;
    report.refreshes += refreshes_;
    report.repairs += repairs_;
    report.burn_in += burnt_;
    report.path_length += path_;
  }
  [[nodiscard]] std::uint64_t bounces() const noexcept { return bounces_; }
  /// New directions after escapes.
  [[nodiscard]] std::uint64_t refreshes() const noexcept { return refreshes_; }
  [[nodiscard]] std::uint64_t repairs() const noexcept { return repairs_; }
  [[nodiscard]] std::uint64_t burnt() const noexcept { return burnt_; }
  [[nodiscard]] double refresh_length() const noexcept { return 0; }

  /// x += scale weight() w, w the spherical average, of norm 1.
  void add_sum(const bpm::Cone& cone, double scale, double* x) const {
    bpm::detail::add_scaled(x, scale * path_, centre_.data(), cone.stride());
  }
  void add_dual_sum(const bpm::Cone& cone, double scale, double* alpha) const {
    cone.add_dual_coefficients(centre_.data(), scale * path_, alpha);
  }
  void add_inside_sum(const bpm::Cone& cone, double scale, double* x) const {
    add_sum(cone, scale, x);
  }

 private:
  using Numbers = bpm::detail::Buffer<double>;
  static constexpr int most_tries = 1000;

  static void normalise(Numbers& x) {
    bpm::detail::scale_by(x.data(), 1 / std::sqrt(bpm::detail::dot(x.data(), x.data(), x.size())),
                          x.size());
  }

  void set_outputs(const bpm::Cone& cone) {
    cone.outputs(b_.data(), d_.data());
    cone.outputs(v_.data(), nu_.data());
    if (last_ >= 0) d_[last_] = 0;
    facet_ =
        bpm::detail::fly_and_search(d_.data(), nu_.data(), nu_.data(), {}, cone.output_stride());
  }

  void new_direction(const bpm::Cone& cone) {
    v_.fill(0.0);
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      bpm::detail::add_scaled(v_.data(), 2 * bpm::uniform_unit(engine_) - 1, cone.row(i),
                              cone.stride());
    }
    normalise(v_);
    normalise(b_);
    if (last_ >= 0 && bpm::detail::dot(v_.data(), cone.row(last_), cone.stride()) < 0) {
      bpm::detail::scale_by(v_.data(), -1.0, v_.size());
    }
    along_ = bpm::detail::dot(b_.data(), v_.data(), cone.stride());
    set_outputs(cone);
    ++refreshes_;
  }

  /// Towards a plane, along the last one: where planes are so nearly parallel that random
  /// directions hardly ever meet one.
  void aim(const bpm::Cone& cone) {
    ++repairs_;
    std::ptrdiff_t target = last_ == 0 && cone.points() > 1 ? 1 : 0;
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      if (i != last_ && d_[i] < d_[target]) target = i;
    }
    bpm::detail::combine(v_.data(), -1.0, cone.row(target), 0.0, cone.row(target), cone.stride());
    if (last_ >= 0 && bpm::detail::dot(cone.row(target), cone.row(last_), cone.stride()) > 0) {
      // Midway between along the one and along the other.
      bpm::detail::add_scaled(v_.data(), cone.row_norm(target) / cone.row_norm(last_),
                              cone.row(last_), cone.stride());
    }
    normalise(v_);
    along_ = bpm::detail::dot(b_.data(), v_.data(), cone.stride());
    set_outputs(cone);
  }

  void take_midpoint(double chord) {
    const double total = path_ + chord;
    if (!(total > 0)) {
      return;
    }
    const double mu = path_ / total;
    path_ = total;
    if (mu == 0) {
      centre_ = middle_;
      return;
    }
    const double c = bpm::detail::dot(centre_.data(), middle_.data(), centre_.size());
    const double moved = mu * mu * (1 - c);
    const double rho_1 = mu * std::sqrt((2 - moved) / (1 + c));
    const double rho_2 = 1 - moved - rho_1 * c;
    bpm::detail::combine(centre_.data(), rho_1, centre_.data(), rho_2, middle_.data(),
                         centre_.size());
    normalise(centre_);
  }

  PublishedSettings settings_;
  bpm::RandomEngine engine_;
  Numbers b_;
  Numbers v_;
  Numbers centre_;
  Numbers position_;  ///< The last draw.
  Numbers from_;      ///< Where the last flight began.
  Numbers middle_;    ///< The last chord's midpoint.
  Numbers there_;     ///< Where the straight flight ends.
  Numbers d_;
  Numbers nu_;
  bpm::detail::Facet facet_;
  double along_ = 0;  ///< <b, v>.
  double path_ = 0;
  double spacing_ = std::numeric_limits<double>::infinity();
  double next_draw_ = std::numeric_limits<double>::infinity();
  std::ptrdiff_t last_ = -1;
  std::uint64_t bounces_ = 0;
  std::uint64_t refreshes_ = 0;
  std::uint64_t repairs_ = 0;
  std::uint64_t burnt_ = 0;
  std::uint64_t events_ = 0;
  bool sampling_ = false;
  bool still_;
};

/// `bpm::Billiard` with the published flight, a sampler of one's own to compare with. Its bias no
/// run shows, so that its report leaves the standard error at infinity (but in rank 1, where there
/// is one classifier).
struct PublishedBilliard {
  std::optional<std::uint64_t> draws{};  ///< As for `bpm::Billiard`, like all of them.
  std::uint64_t bounces_per_draw = 1000;
  std::uint64_t bounces = 0;
  double seconds = 0;
  unsigned chains = 4;
  bpm::ConePlan::Start start = bpm::ConePlan::Start::largest_margin;
  std::vector<double> start_coefficients{};
  double factor_tolerance = 0;

  using State = bpm::detail::ChainState<PublishedChain>;

  static constexpr bpm::SamplerTraits traits{.sees = bpm::SamplerTraits::Sees::cone};

  void check_settings() const { as_billiard().check_settings(); }
  [[nodiscard]] bpm::ConePlan plan() const {
    return {.name = "PublishedBilliard",
            .draws = budget().draws.value_or(0),
            .factor_tolerance = factor_tolerance,
            .form_products = true,
            .start = start,
            .start_coefficients = start_coefficients};
  }
  [[nodiscard]] PublishedBilliard with_draws(std::uint64_t count) const {
    PublishedBilliard other = *this;
    other.draws = count;
    other.bounces = 0;
    other.seconds = 0;
    return other;
  }
  [[nodiscard]] bpm::MemoryNeed memory_need(const bpm::RunSize& run) const {
    return as_billiard().memory_need(run);
  }

  template <class Sink>
  bpm::SamplerReport sample(const bpm::Cone& cone, std::span<const double> start_point,
                            bpm::RandomStreams& streams, const bpm::RunControl& control,
                            Sink&& sink, State& state) const {
    bpm::SamplerReport report =
        bpm::detail::run_chains(plan(), budget(), PublishedSettings{bounces_per_draw}, cone,
                                start_point, streams, control, sink, state);
    if (report.chains && cone.rank() > 1) {
      report.chains->standard_error = std::numeric_limits<double>::infinity();
      report.chains->effective_draws = 0;
    }
    return report;
  }

 private:
  [[nodiscard]] bpm::Billiard as_billiard() const {
    return {.draws = draws,
            .bounces_per_draw = bounces_per_draw,
            .bounces = bounces,
            .seconds = seconds,
            .chains = chains,
            .start = start,
            .start_coefficients = start_coefficients,
            .factor_tolerance = factor_tolerance};
  }
  [[nodiscard]] bpm::detail::ChainBudget budget() const {
    bpm::detail::ChainBudget all{draws, bounces_per_draw, bounces, seconds, 0, chains};
    if (!draws && bounces == 0 && seconds == 0) all.draws = 100;
    return all;
  }
};

}  // namespace bpm_examples
