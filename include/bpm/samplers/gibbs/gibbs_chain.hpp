// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/samplers/gibbs/gibbs_line.hpp"
#include "bpm/samplers/gibbs/gibbs_step.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Direction of a Gibbs step.
enum class GibbsDirection {
  isotropic,  ///< A random tangent direction of R^r.
  input,      ///< One training input, uniformly chosen: O(m) a step, needs `Cone::form_products`.
};

struct GibbsChainSettings {
  double label_noise = 0;  ///< q in [0, 1/2): probability of a wrong label.
  GibbsDirection directions = GibbsDirection::isotropic;
  bool rao_blackwell = true;           ///< Sums use the mean of each arc, not the drawn point.
  std::uint64_t steps_per_draw = 100;  ///< At least 1.
  /// Number of steps discarded at the start. 0: 1000 + 20 r, r the rank; along inputs 1000 + 20 m.
  std::uint64_t burn_in = 0;
  /// With noise: q falls from 1/2 to `label_noise` in the first half of the burn-in. At a low q a
  /// chain is slow to leave the training errors of its start.
  bool anneal = true;
};

/// The kernel Gibbs sampler (T. Graepel, R. Herbrich, "The kernel Gibbs sampler", NIPS 13, 2001):
/// a Markov chain on the unit sphere of R^r whose law has density proportional to
///
///     (1 - q)^#{i : d_i > 0}  q^#{i : d_i <= 0},
///
/// d the signed outputs. With q = 0 that is the uniform law on version space, and the chain is
/// hit-and-run; with q > 0 there need not be a version space.
///
/// **Isotropic steps** draw a tangent direction v at the position b. The circle b cos t + v sin t
/// meets the m planes at 2 m angles, between which the number of errors is constant; an arc is
/// drawn by its length times (q / (1 - q))^errors, a point in it uniformly. With q = 0 only the arc
/// around b is left, and the extremes of nu_i / d_i are its ends. Every point of a circle leads
/// to it with the same density, so that given the circle b has the law restricted to it, and a
/// fresh draw from that restriction leaves the law as it is.
///
/// **Steps along an input** move in the flat space: w = rho b with rho of the chi law of r degrees,
/// independent of b, is a standard normal vector weighted by its errors. On the line w + x s_i the
/// component a = <w, s_i> / norm(s_i) is a standard normal number weighted by errors: one truncated
/// normal law (q = 0), or one piece between two planes each. rho is drawn afresh for every step.
/// The r pivots' features span R^r, so these lines reach everything.
///
/// **Sums** for E[b] use the exact mean of the law of a step given its circle or line
/// (Rao-Blackwell: the same expectation, no larger variance in one step), or the points drawn. On a
/// line that is the mean of w, and since norm and direction are independent E[w] = E[chi_r] E[b].
///
/// A chain is a copyable value; every call receives the cone, which must always be the same. Equal
/// settings, start and engine give the same chain, however the calls divide it.
///
/// Cost of a step: isotropic m r multiply-adds in products of 32 directions at once, plus O(m) for
/// q = 0 and O(m log m) otherwise; along an input O(m + r) or O(m log m + r). With r = 1 there is
/// no direction: the state stays (q = 0), or jumps between the two points of the sphere by their
/// weights.
class GibbsChain {
 public:
  GibbsChain() = default;  ///< For reading a file.
  /// `start`: r coordinates or `cone.stride()`, any positive norm, inside version space if q = 0.
  /// Steps along inputs need `Cone::form_products`.
  GibbsChain(const Cone& cone, const GibbsChainSettings& settings, std::span<const double> start,
             RandomEngine engine)
      : settings_(settings),
        engine_(engine),
        burn_in_left_(settings.burn_in),
        mean_chi_(mean_chi(cone.rank())),
        state_(cone, start, settings.label_noise == 0),
        sum_(static_cast<std::size_t>(cone.stride()), 0.0) {
    if (burn_in_left_ == 0) {
      const bool input = settings.directions == GibbsDirection::input;
      burn_in_left_ = 1000 + 20 * static_cast<std::uint64_t>(input ? cone.points() : cone.rank());
    }
    set_penalty(cone, 1);
  }

  /// Makes at most `limit` steps of the burn-in; returns true when it is over.
  bool burn_in(const Cone& cone, std::uint64_t limit) {
    for (; burn_in_left_ > 0 && limit > 0; --limit) {
      if (settings_.anneal && !state_.hard) lower_noise(cone);
      step(cone);
      ++burnt_;
      if (--burn_in_left_ == 0) {
        state_.settle(cone);
        std::fill(sum_.begin(), sum_.end(), 0.0);
        steps_ = 0;
        errors_ = 0;
        state_.repairs = 0;
      }
    }
    return burn_in_left_ == 0;
  }

  /// Makes at most `limit` steps towards the next draw, after the burn-in. Returns true when the
  /// chain is on the draw; the next call continues to the following one.
  bool advance(const Cone& cone, std::uint64_t limit) {
    for (; limit > 0; --limit) {
      step(cone);
      if (++steps_of_draw_ == settings_.steps_per_draw) {
        steps_of_draw_ = 0;
        state_.settle(cone);
        return true;
      }
    }
    return false;
  }

  /// Coordinates of the current state, `stride()` long, norm 1.
  [[nodiscard]] std::span<const double> position() const noexcept { return state_.x; }
  /// Divisor of the sums: steps since the burn-in.
  [[nodiscard]] double weight() const noexcept { return static_cast<double>(steps_); }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  /// Estimated cost of a step, in units of 0.5 ns, for callers that check the clock between slices.
  [[nodiscard]] std::uint64_t step_work(const Cone& cone) const noexcept {
    const auto m = static_cast<std::uint64_t>(cone.points());
    const auto r = static_cast<std::uint64_t>(cone.rank());
    const std::uint64_t product = settings_.directions == GibbsDirection::input ? r : m * r / 16;
    return 200 + product + (state_.hard ? 8U : 300U) * m;
  }
  void add_to(ChainReport& report) const {
    report.steps += steps_;
    report.repairs += state_.repairs;
    report.burn_in += burnt_;
    if (steps_ > 0) report.mean_errors += static_cast<double>(errors_) / weight();
  }

  /// Computes x += scale * sum, `stride()` long: E[b] is sum / weight().
  void add_sum(const Cone& cone, double scale, double* x) const {
    add_scaled(x, scale, sum_.data(), cone.stride());
  }
  /// Adds the same sum as `add_sum`: none of its terms lies outside the cone's hull.
  void add_inside_sum(const Cone& cone, double scale, double* x) const { add_sum(cone, scale, x); }
  /// Computes alpha += scale * dual coefficients of the sum, m long.
  void add_dual_sum(const Cone& cone, double scale, double* alpha) const {
    cone.add_dual_coefficients(sum_.data(), scale, alpha);
  }

  /// Visits a chain on a draw, or after its burn-in before the first draw: the state is settled,
  /// with the outputs of its position, which if q = 0 is the last one known to be inside.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("engine", self.engine_);
    visit("normal", self.normal_);
    visit("position", self.state_.x, Bound::per_coordinate);
    visit("sum", self.sum_, Bound::per_coordinate);
    visit("directions", self.state_.directions);
    visit("steps", self.steps_, Bound::counted);
    visit("errors", self.errors_, Bound::counted);
    visit("repairs", self.state_.repairs, Bound::counted);
    visit("burnt", self.burnt_, Bound::counted);
    visit("steps_to_settle", self.steps_to_settle_, Bound::counted);
  }

  /// Completes a chain that was read. \throws std::invalid_argument on an invalid position.
  void take_up(const Cone& cone, const GibbsChainSettings& settings) {
    settings_ = settings;
    burn_in_left_ = 0;
    mean_chi_ = mean_chi(cone.rank());
    state_.hard = settings.label_noise == 0;
    check_position(cone, state_.x, state_.hard);
    state_.prepare(cone);
    state_.directions.take_up(cone);
    set_penalty(cone, 1);
  }

 private:
  /// Sets the weights of errors by a share of log((1 - q) / q).
  void set_penalty(const Cone& cone, double share) {
    penalty_ = {GibbsPenalty::beta_of(settings_.label_noise) * share, cone.points()};
  }

  /// Sets the noise of this step of the burn-in: log((1 - q) / q) rises in equal stages.
  void lower_noise(const Cone& cone) {
    constexpr std::uint64_t stages = 32;
    const std::uint64_t total = burnt_ + burn_in_left_;
    const std::uint64_t stage = std::min(stages, 2 * stages * (burnt_ + 1) / total);
    if (stage != stage_ || burnt_ == 0) {
      stage_ = stage;
      set_penalty(cone, static_cast<double>(stage) / static_cast<double>(stages));
    }
  }

  void step(const Cone& cone) {
    if (cone.rank() == 1) {
      step_in_one_dimension();
    } else if (settings_.directions == GibbsDirection::input) {
      step_along_input(cone);
    } else {
      step_on_circle(cone, state_.next_direction(cone, engine_));
    }
    ++steps_;
    if (!state_.hard) {
      errors_ += static_cast<std::uint64_t>(count_errors(state_.d.data(), cone.points()));
    }
  }

  /// Makes a step on the sphere of rank 1, the two points x and -x.
  void step_in_one_dimension() {
    double mean = 1;
    bool jumps = false;
    if (!state_.hard) {
      std::ptrdiff_t more = 0;  // Errors of -x minus errors of x.
      for (const double d : state_.d) more += (d > 0 ? 1 : 0) - (d < 0 ? 1 : 0);
      const double stays = 1 / (1 + std::exp(-penalty_.beta() * static_cast<double>(more)));
      mean = 2 * stays - 1;
      jumps = uniform_unit(engine_) >= stays;
    }
    const double sign = jumps ? -1.0 : 1.0;
    add_to_sum(settings_.rao_blackwell ? mean : sign, 0, state_.x.data());
    if (jumps) state_.flip();
  }

  void step_on_circle(const Cone& cone, const RandomDirections::Direction& z) {
    const std::ptrdiff_t m = cone.points();
    Arc arc{};
    if (state_.hard) {
      arc = free_arc(state_.d.data(), z, m);
    } else {
      circle_.cut(state_.d.data(), z, m);
    }
    // Converts multiples of b and v to multiples of b and z.
    const auto of_b = [&](double c, double s) { return c - s * z.along / z.across; };
    make_step(m, z.vector, z.outputs, [&]() -> GibbsMove {
      const CirclePoint to =
          state_.hard ? point_of_arc(arc, engine_) : circle_.draw(penalty_, engine_);
      return {of_b(to.cosine, to.sine), to.sine / z.across, of_b(to.mean_cosine, to.mean_sine),
              to.mean_sine / z.across};
    });
  }

  void step_along_input(const Cone& cone) {
    if (steps_to_settle_ == 0) {
      state_.settle(cone);
      steps_to_settle_ = std::max<std::ptrdiff_t>(32, cone.rank());
    }
    --steps_to_settle_;
    std::ptrdiff_t i = 0;
    do {
      i = uniform_below(engine_, static_cast<std::uint32_t>(cone.points()));
    } while (!(cone.row_norm(i) > 0));
    const double feature = cone.row_norm(i);
    const double* s = cone.row(i);
    const double* p = cone.product_row(i);
    const std::ptrdiff_t m = cone.points();
    // The angle theta to s_i has the law |sin theta|^(r-2), not the uniform one: the circles
    // through s_i are the meridians of one pole.
    const double rho = chi_draw(cone.rank(), normal_, engine_);
    const double at = rho * state_.d[i] / feature;
    make_step(m, s, p, [&]() -> GibbsMove {
      const LinePoint to =
          state_.hard
              ? point_of_free_line(state_.d.data(), p, m, at, rho * feature, normal_, engine_)
              : pieces_.draw(state_.d.data(), p, m, at, rho * feature, penalty_, normal_, engine_);
      const double rest = std::max(0.0, (rho - at) * (rho + at));
      const double norm = std::sqrt(rest + to.place * to.place);
      return {rho / norm, (to.place - at) / (feature * norm), rho / mean_chi_,
              (to.mean - at) / (feature * mean_chi_)};
    });
  }

  /// Moves to draw() and updates the sums; p are the outputs of z.
  template <class DrawMove>
  void make_step(std::ptrdiff_t points, const double* z, const double* p, DrawMove&& draw) {
    GibbsMove to{};
    const bool moved = state_.try_outputs(points, p, draw, to);
    if (settings_.rao_blackwell) add_to_sum(to.mean_b, to.mean_z, z);
    if (moved) combine(state_.x.data(), to.of_b, state_.x.data(), to.of_z, z, std::ssize(state_.x));
    if (!settings_.rao_blackwell) add_to_sum(1, 0, state_.x.data());
  }

  /// Computes sum += of_b b + of_z z.
  void add_to_sum(double of_b, double of_z, const double* z) {
    const std::ptrdiff_t length = std::ssize(sum_);
    const double* x = state_.x.data();
    double* sum = sum_.data();
    for (std::ptrdiff_t k = 0; k < length; ++k) sum[k] += of_b * x[k] + of_z * z[k];
  }

  GibbsChainSettings settings_;
  RandomEngine engine_;
  NormalDraws normal_;
  std::uint64_t burn_in_left_ = 0;
  std::uint64_t burnt_ = 0;
  std::uint64_t stage_ = 0;  ///< Stage of the falling noise.
  GibbsPenalty penalty_;
  double mean_chi_ = 1;

  GibbsState state_;
  std::vector<double> sum_;
  std::uint64_t steps_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t steps_of_draw_ = 0;
  std::ptrdiff_t steps_to_settle_ = 0;
  GibbsCircle circle_;
  GibbsPieces pieces_;
};

}}}  // namespace bpm::detail
