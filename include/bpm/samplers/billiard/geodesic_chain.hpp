// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/billiard/facet_search.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/chains/chain_state.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Settings of a geodesic chain.
struct GeodesicSettings {
  double refresh_length = 0;  ///< Mean path between new directions; 0: chosen in the burn-in.
  std::uint64_t bounces_per_draw = 1000;
  std::uint64_t burn_in = 0;  ///< Least bounces; 0: 8192, and more for the choice of the length.
};

/// A billiard ball on great circles of version space.
///
/// Position b and direction v are orthonormal. A flight by the angle t takes b to b cos t + v sin t
/// and v to v cos t - b sin t; it ends at the plane of the largest -nu_i / d_i, where tan t =
/// d_c / -nu_c, and v is reflected: v -= 2 nu_c / norm(s_c)^2 s_c. Both preserve the Liouville
/// measure (position uniform on version space, direction uniform on the tangent sphere), and so
/// does a new isotropic direction after an exponential length of path, which makes the chain
/// ergodic. Without new directions it need not be: on K = I it is integrable.
///
/// **The centre costs O(1) a bounce.** Since dv/dt = -b between bounces and v jumps by 2 |nu_c| /
/// norm(s_c)^2 s_c at a bounce and by v' - v at a refresh, the integral of b over the path is
///
///     sum of the bounces' jumps + sum over refreshes of (v' - v) + v_start - v_end,
///
/// and the middle terms have mean zero. The jumps alone, divided by the length of the path, are
/// therefore an unbiased estimate of E[w]; it is a combination of the planes' normals with
/// coefficients y_i alpha_i >= 0 that tend to facet areas (the theorem of Gauss on the sphere: the
/// Bayes point has a coefficient only where a plane bounds version space), and where the refresh
/// length is short it is the better one by far.
///
/// **Bounces cost O(m).** Rotated back by the angle theta flown so far, (b, v) does not change
/// between bounces, and a bounce adds one multiple of s_c. So positions are stored as coordinates
/// at an anchor and one complex weight per plane, and only outputs are updated. They are recomputed
/// from coordinates at each draw, and if it is far, after 8 m bounces (1000 at least).
///
/// A copyable value: a copy continues in the same way, to the bit. Calls receive the cone it was
/// made with. Rank 1 has no tangent direction: the chain stays on the only point.
class GeodesicChain {
 public:
  GeodesicChain() = default;  ///< For reading a file.
  /// `start`: coordinates of a point inside, `rank` or `stride` of them, any norm. Needs
  /// `Cone::form_products`.
  GeodesicChain(const Cone& cone, const GeodesicSettings& settings, std::span<const double> start,
                RandomEngine engine)
      : settings_(settings),
        engine_(engine),
        b_(cone.stride(), 0.0),
        v_(cone.stride(), 0.0),
        outputs_(2 * cone.output_stride(), 0.0),
        rest_(cone.stride(), 0.0),
        jumps_(cone.points()),
        burn_in_(settings.refresh_length, settings.burn_in),
        still_(cone.rank() == 1) {
    const std::ptrdiff_t given = std::min<std::ptrdiff_t>(std::ssize(start), cone.rank());
    std::copy_n(start.data(), given, b_.data());
    scale_to_unit(b_.data(), b_.size());
    inside_ = b_;
    if (!still_) {
      set_outputs(cone);
      refresh(cone);
      refreshes_ = 0;
    }
  }

  /// Runs at most `limit` bounces of the burn-in; returns true when it is over. Chooses the refresh
  /// length if it is open, and the path between draws; then clears all sums.
  bool burn_in(const Cone& cone, std::uint64_t limit) {
    if (sampling_) return true;
    until_draw_ = std::numeric_limits<double>::infinity();
    const std::uint64_t end = bounces_ + limit;
    while (!still_ && burn_in_.stage_end() != BilliardBurnIn::never) {
      const std::uint64_t until = std::min(end, burn_in_.stage_end());
      if (bounces_ < until) run(cone, until - bounces_);
      if (bounces_ < burn_in_.stage_end()) return false;
      anchor(cone);
      const double before = burn_in_.refresh_length();
      burn_in_.next_stage(cone, bounces_, total_path_,
                          [&](double* mean) { add_sum(cone, 1 / path_, mean); });
      clear_sums();
      if (burn_in_.refresh_length() != before) set_refresh();
    }
    spacing_ = still_ ? 1.0
                      : static_cast<double>(settings_.bounces_per_draw) * total_path_ /
                            static_cast<double>(bounces_);
    burnt_ = bounces_;
    bounces_ = 0;
    refreshes_ = 0;
    repairs_ = 0;
    anchor(cone);
    clear_sums();
    until_draw_ = spacing_;
    clock_.set_stop(stop());
    sampling_ = true;
    return true;
  }

  /// Runs at most `limit` bounces towards the next draw, a point at equal steps of path; returns
  /// true when the chain is on it.
  bool advance(const Cone& cone, std::uint64_t limit) {
    if (still_) {
      bounces_ += settings_.bounces_per_draw;  // Budgets of bounces must end.
      path_ += 1;
      add_scaled(rest_.data(), 1.0, b_.data(), cone.stride());
      return true;
    }
    return run(cone, limit);
  }

  /// Flies to the next plane and bounces, with new directions on the way. For chains that are
  /// observed bounce by bounce: afterwards there are no draws.
  void bounce(const Cone& cone) {
    if (still_) {
      advance(cone, 1);
      bounces_ += 1 - settings_.bounces_per_draw;
      return;
    }
    until_draw_ = std::numeric_limits<double>::infinity();
    if (sampling_) clock_.set_stop(stop());
    run(cone, 1);
  }

  /// Updates the coordinates. `position` and `direction` are those of the last anchor; `advance`
  /// has called this when it returns true.
  void anchor(const Cone& cone) {
    const std::ptrdiff_t length = cone.stride();
    const double angle = clock_.angle();
    const double cosine = clock_.cosine();
    const double sine = clock_.sine();
    double* b = b_.data();
    double* v = v_.data();
    for (std::ptrdiff_t k = 0; k < length; ++k) {
      const double old_v = v[k];
      const double new_b = cosine * b[k] + sine * old_v;
      v[k] = cosine * old_v - sine * b[k];
      b[k] = new_b;
      rest_[k] += old_v;
    }
    jumps_.settle(cone, clock_, b, v);
    add_scaled(rest_.data(), -1.0, v, length);
    path_ += angle;
    total_path_ += angle;
    until_refresh_ -= angle;
    until_draw_ -= angle;
    clock_.restart(stop());
  }

  /// Position b, `stride` coordinates of norm 1.
  [[nodiscard]] std::span<const double> position() const noexcept { return b_.span(); }
  /// Direction v, a tangent direction of norm 1.
  [[nodiscard]] std::span<const double> direction() const noexcept { return v_.span(); }
  /// Length of the averaged path: since the burn-in, or the start without one.
  [[nodiscard]] double weight() const noexcept { return path_; }
  /// Estimated cost of a bounce, in units of 0.5 ns.
  [[nodiscard]] static std::uint64_t step_work(const Cone& cone) noexcept {
    return 80 + 2 * static_cast<std::uint64_t>(cone.points());
  }
  void add_to(ChainReport& report) const {
    report.steps += bounces_;
    report.refreshes += refreshes_;
    report.repairs += repairs_;
    report.burn_in += burnt_;
    report.path_length += path_;
    report.refresh_length = std::max(report.refresh_length, refresh_length());
  }
  [[nodiscard]] std::uint64_t bounces() const noexcept { return bounces_; }
  [[nodiscard]] std::uint64_t refreshes() const noexcept { return refreshes_; }
  [[nodiscard]] std::uint64_t repairs() const noexcept { return repairs_; }
  [[nodiscard]] std::uint64_t burnt() const noexcept { return burnt_; }
  [[nodiscard]] double refresh_length() const noexcept {
    return still_ || std::isinf(burn_in_.refresh_length()) ? 0.0 : burn_in_.refresh_length();
  }

  /// Computes x += scale times the sum of the bounces' jumps, an estimate of weight() E[w].
  void add_sum(const Cone& cone, double scale, double* x) const {
    jumps_.add_to(cone, scale, x);
    if (still_) add_scaled(x, scale, rest_.data(), cone.stride());
  }
  /// Adds the same estimate in dual coefficients to `alpha` of m points.
  void add_dual_sum(const Cone& cone, double scale, double* alpha) const {
    jumps_.add_to_dual(cone, scale, alpha);
    if (still_) cone.add_dual_coefficients(rest_.data(), scale, alpha);
  }
  /// Computes x += scale times the integral of b over the path up to the last anchor. As a mean of
  /// points of version space it lies inside.
  void add_inside_sum(const Cone& cone, double scale, double* x) const {
    add_sum(cone, scale, x);
    if (!still_) add_scaled(x, scale, rest_.data(), cone.stride());
  }

  /// Visits a chain on a draw, or after its burn-in before the first draw: there it is at an
  /// anchor, where jumps are settled, the clock restarts, and a whole spacing lies before the next
  /// draw.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("engine", self.engine_);
    visit("directions", self.directions_);
    visit("position", self.b_, Bound::per_coordinate);
    visit("direction", self.v_, Bound::per_coordinate);
    visit("inside", self.inside_, Bound::per_coordinate);
    visit("outputs", self.outputs_, Rows{Rows::Of::points, 2});
    visit("rest", self.rest_, Bound::per_coordinate);
    visit("jumps", self.jumps_);
    visit("burn_in", self.burn_in_);
    visit("facet_index", self.facet_.index, PointNumbers{});
    visit("facet_towards", self.facet_.towards);
    visit("facet_distance", self.facet_.distance);
    visit("until_refresh", self.until_refresh_);
    visit("spacing", self.spacing_, Bound::positive);
    visit("path", self.path_);
    visit("bounces", self.bounces_, Bound::counted);
    visit("refreshes", self.refreshes_, Bound::counted);
    visit("repairs", self.repairs_, Bound::counted);
    visit("burnt", self.burnt_, Bound::counted);
    visit("events", self.events_, Bound::counted);
    visit("refreshes_since", self.refreshes_since_, Bound::counted);
  }
  /// Completes a chain that was read. What it stands on may be any numbers: a ball that they
  /// lead outside goes on from `inside_`. \throws std::invalid_argument unless that is inside.
  void take_up(const Cone& cone, const GeodesicSettings& settings) {
    settings_ = settings;
    still_ = cone.rank() == 1;
    sampling_ = true;
    check_position(cone, inside_.span(), true);
    // Half a turn a bounce at most, or a draw would never be reached.
    spacing_ = std::min(spacing_, 4 * static_cast<double>(settings.bounces_per_draw));
    until_draw_ = spacing_;
    clock_.restart(stop());
    directions_.take_up(cone);
  }

 private:
  /// Signed outputs of the ball and of its direction, up to date.
  [[nodiscard]] double* d() noexcept { return outputs_.data(); }
  [[nodiscard]] double* nu() noexcept { return outputs_.data() + outputs_.size() / 2; }

  void clear_sums() {
    jumps_.clear();
    rest_.fill(0.0);
    path_ = 0;
  }

  /// Recomputes the outputs, and finds the next plane.
  void set_outputs(const Cone& cone) {
    const std::array<const double*, 2> both{b_.data(), v_.data()};
    cone.outputs(both, d(), cone.output_stride());
    events_ = 0;
    refreshes_since_ = 0;
    facet_ = fly_and_search(d(), nu(), nu(), {}, cone.output_stride());
  }

  /// Path to the next stop: a draw or a new direction.
  [[nodiscard]] double stop() const noexcept { return std::min(until_draw_, until_refresh_); }

  /// Runs up to `limit` bounces; returns true if it ended on a draw.
  bool run(const Cone& cone, std::uint64_t limit) {
    const std::ptrdiff_t length = cone.output_stride();
    const std::uint64_t end = bounces_ + limit;
    const auto consolidate =
        static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(1000, 8 * cone.points()));
    while (bounces_ < end) {
      // A ball that rounding has put behind its plane counts as at the plane.
      const double distance = facet_.distance;
      if (!(distance > 0) && d()[facet_.index] < -1e-12 * cone.row_norm(facet_.index)) ++repairs_;
      FacetArc arc = arc_to(facet_);
      if (!(arc.speed > 0) || (facet_.towards < 0 && distance <= no_distance)) {
        restart(cone);
        continue;
      }
      if (clock_.reaches_stop(arc.cosine, arc.sine)) {
        const bool at_draw = until_draw_ <= until_refresh_;
        // Flies part of an arc, without a bounce.
        clock_.turn(arc.cosine, arc.sine);
        facet_ = fly_and_search(d(), nu(), nu(), {arc.cosine, arc.sine, arc.cosine, arc.sine, 0.0},
                                length);
        anchor(cone);
        make_orthonormal();
        if (at_draw) {
          make_draw(cone);
          return true;
        }
        refresh(cone);
        continue;
      }
      clock_.turn(arc.cosine, arc.sine);
      const std::ptrdiff_t hit = facet_.index;
      const double jump = fly_and_bounce(d(), nu(), cone.product_row(hit), arc, facet_, length);
      jumps_.add(hit, jump, clock_);
      ++events_;
      ++bounces_;
      if (events_ >= consolidate) {
        anchor(cone);
        make_orthonormal();
        set_outputs(cone);
        // A ball outside could bounce for ever; only one that was read can be there.
        const double* least = std::min_element(d(), d() + cone.points());
        if (!(*least >= -1e-6 * cone.row_norm(least - d()))) restart(cone);
      }
    }
    return false;
  }

  void make_orthonormal() {
    scale_to_unit(b_.data(), b_.size());
    add_scaled(v_.data(), -dot(b_.data(), v_.data(), b_.size()), b_.data(), b_.size());
    scale_to_unit(v_.data(), v_.size());
  }

  /// Finishes a draw: recomputes its outputs, and moves it strictly inside if necessary.
  void make_draw(const Cone& cone) {
    until_draw_ = spacing_;
    clock_.set_stop(stop());
    set_outputs(cone);
    for (double pull = 1e-15; pull < 1; pull *= 8) {
      if (*std::min_element(d(), d() + cone.points()) > 0) return;
      ++repairs_;
      add_scaled(b_.data(), pull, inside_.data(), b_.size());
      make_orthonormal();
      set_outputs(cone);
    }
  }

  /// Restarts where numbers went wrong: those of a file, or NaN in kernel values.
  void restart(const Cone& cone) {
    ++repairs_;
    anchor(cone);
    b_ = inside_;
    set_outputs(cone);
    refresh(cone);
  }

  /// Draws a new isotropic tangent direction, at an anchor with outputs d up to date. Their
  /// rounding errors enter nu times the part of the vector along b over the part across it, about 1
  /// / sqrt(r): in few dimensions they would grow from one direction to the next.
  void refresh(const Cone& cone) {
    if (cone.rank() < 32 || ++refreshes_since_ >= 32) {
      cone.outputs(b_.data(), d());
      refreshes_since_ = 0;
    }
    directions_.tangent(cone, engine_, b_.data(), d(), v_.data(), nu());
    facet_ = fly_and_search(d(), nu(), nu(), {}, cone.output_stride());
    ++refreshes_;
    set_refresh();
  }

  /// Draws the path to the next direction, exponential, from here, an anchor.
  void set_refresh() {
    const double mean = burn_in_.refresh_length();
    until_refresh_ = std::isinf(mean) ? mean : -mean * std::log(1 - uniform_unit(engine_));
    clock_.set_stop(stop());
  }

  GeodesicSettings settings_;
  RandomEngine engine_;
  RandomDirections directions_{16};
  Buffer<double> b_;        ///< Position at the last anchor.
  Buffer<double> v_;        ///< Direction at the last anchor.
  Buffer<double> inside_;   ///< Start position, well inside version space.
  Buffer<double> outputs_;  ///< Signed outputs of the ball, then those of its direction.
  Buffer<double> rest_;     ///< Sum over flights between anchors of v_begin - v_end.
  JumpSums jumps_;
  BilliardBurnIn burn_in_{0, 0};
  Facet facet_;
  double until_refresh_ = 0;  ///< Path from the anchor to the next direction.
  double spacing_ = std::numeric_limits<double>::infinity();
  double path_ = 0;
  std::uint64_t bounces_ = 0;
  std::uint64_t refreshes_ = 0;
  std::uint64_t repairs_ = 0;
  std::uint64_t burnt_ = 0;
  std::uint64_t events_ = 0;  ///< Bounces since the outputs were recomputed.
  std::uint64_t refreshes_since_ = 0;
  FlightClock clock_;  ///< Angle since the anchor.
  double until_draw_ = std::numeric_limits<double>::infinity();
  double total_path_ = 0;
  bool sampling_ = false;
  bool still_ = false;
};

}}}  // namespace bpm::detail
