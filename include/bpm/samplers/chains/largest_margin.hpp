// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Maximises sum_i a_i - norm(sum_i a_i s_i)^2 / 2 over a >= 0 exactly: the dual of the hard margin
/// without offset. At the optimum d_i = <s_i, sum_j a_j s_j> is 1 where a_i > 0 and at least 1
/// elsewhere.
///
/// The active-set method of non-negative least squares (C. Lawson, R. Hanson, "Solving Least
/// Squares Problems", 1974, chapter 23). A Cholesky factor of the products of a set of points keeps
/// their d at 1; the point of the smallest d is added to the set. A step is cut where a coefficient
/// would become negative, and its point leaves. A point whose s_i depends on those of the set moves
/// along the dependence instead, which raises the sum; if nothing stops it, no classifier separates
/// the data. Unlike coordinate ascent the method is insensitive to ill-conditioned products. Cost
/// of a step: O(m r + k^2) for k points in the set, and O(k^3) when one of them leaves.
class MarginActiveSet {
 public:
  /// Starts from `a`, m coefficients >= 0, and their outputs `d`; both are kept up to date.
  MarginActiveSet(const Cone& cone, std::vector<double>& a, double* d)
      : cone_(cone), a_(a), d_(d), position_(static_cast<std::size_t>(cone.points()), -1) {
    for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
      if (a_[std::size_t(i)] > 0 && !enter(i)) a_[std::size_t(i)] = 0;
    }
    settle();
  }

  enum class Step { improved, optimal, unbounded };

  /// Adds one point to the set.
  [[nodiscard]] Step step() {
    std::ptrdiff_t worst = -1;
    double least = 1 - 1e-10;
    for (std::ptrdiff_t i = 0; i < cone_.points(); ++i) {
      if (position_[std::size_t(i)] < 0 && d_[i] < least && cone_.row_norm(i) > 0) {
        least = d_[i];
        worst = i;
      }
    }
    if (worst < 0) return Step::optimal;
    if (!enter(worst) && !exchange(worst)) return Step::unbounded;
    settle();
    return Step::improved;
  }

 private:
  [[nodiscard]] std::ptrdiff_t count() const noexcept { return std::ssize(set_); }
  [[nodiscard]] double product(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return cone_.has_products() ? cone_.product_row(i)[j]
                                : dot(cone_.row(i), cone_.row(j), cone_.stride());
  }

  /// Appends point i to the set and the factor; false if s_i depends on those of the set.
  [[nodiscard]] bool enter(std::ptrdiff_t i) {
    const double rest = compute_row(i);
    const double squared = cone_.row_norm(i) * cone_.row_norm(i);
    if (count() == cone_.rank() || !(rest > 1e-14 * squared)) {
      return false;
    }
    row_[std::size_t(count())] = std::sqrt(rest);
    rows_.push_back(row_);
    position_[std::size_t(i)] = count();
    set_.push_back(i);
    return true;
  }

  /// row_ = L^{-1} (products of the set with i); returns s_i's squared distance from their span.
  double compute_row(std::ptrdiff_t i) {
    row_.assign(static_cast<std::size_t>(padded<double>(count() + 1)), 0.0);
    for (std::ptrdiff_t k = 0; k < count(); ++k) {
      const auto& upper = rows_[std::size_t(k)];
      const double known = dot(row_.data(), upper.data(), std::ssize(upper));
      row_[std::size_t(k)] = (product(set_[std::size_t(k)], i) - known) / upper[std::size_t(k)];
    }
    return cone_.row_norm(i) * cone_.row_norm(i) - dot(row_.data(), row_.data(), std::ssize(row_));
  }

  void leave(std::ptrdiff_t k) {
    const std::vector<std::ptrdiff_t> later(set_.begin() + k + 1, set_.end());
    for (std::ptrdiff_t j = k; j < count(); ++j) position_[std::size_t(set_[std::size_t(j)])] = -1;
    a_[std::size_t(set_[std::size_t(k)])] = 0;
    set_.resize(static_cast<std::size_t>(k));
    rows_.resize(static_cast<std::size_t>(k));
    for (const std::ptrdiff_t i : later) {
      if (!enter(i)) a_[std::size_t(i)] = 0;
    }
  }

  /// Solves L' z = y in place, y over the set.
  void solve_transposed(std::vector<double>& y) const {
    for (std::ptrdiff_t k = count() - 1; k >= 0; --k) {
      const auto& row = rows_[std::size_t(k)];
      const double z = y[std::size_t(k)] / row[std::size_t(k)];
      y[std::size_t(k)] = z;
      for (std::ptrdiff_t j = 0; j < k; ++j) y[std::size_t(j)] -= z * row[std::size_t(j)];
    }
  }

  /// Sets the coefficients of the set so that d = 1, drops points that would become negative, and
  /// updates d.
  void settle() {
    for (;;) {
      std::vector<double> z(set_.size(), 0.0);
      for (std::ptrdiff_t k = 0; k < count(); ++k) {  // L y = 1.
        const auto& row = rows_[std::size_t(k)];
        double sum = 1;
        for (std::ptrdiff_t j = 0; j < k; ++j) sum -= row[std::size_t(j)] * z[std::size_t(j)];
        z[std::size_t(k)] = sum / row[std::size_t(k)];
      }
      solve_transposed(z);
      double part = 1;
      std::ptrdiff_t first = -1;
      for (std::ptrdiff_t k = 0; k < count(); ++k) {
        const double now = a_[std::size_t(set_[std::size_t(k)])];
        if (z[std::size_t(k)] <= 0 && now / (now - z[std::size_t(k)]) < part) {
          part = now / (now - z[std::size_t(k)]);
          first = k;
        }
      }
      for (std::ptrdiff_t k = 0; k < count(); ++k) {
        double& now = a_[std::size_t(set_[std::size_t(k)])];
        now = std::max(0.0, now + part * (z[std::size_t(k)] - now));
      }
      if (first < 0) break;
      leave(first);
    }
    std::vector<double> x(static_cast<std::size_t>(cone_.stride()), 0.0);
    cone_.add_rows(a_.data(), x.data());
    cone_.outputs(x.data(), d_);
  }

  /// s_i is a combination c of the set with sum c < 1: increases a_i and decreases theirs, until a
  /// point leaves.
  [[nodiscard]] bool exchange(std::ptrdiff_t i) {
    std::vector<double> c(row_.begin(), row_.begin() + count());
    solve_transposed(c);
    double most = std::numeric_limits<double>::infinity();
    std::ptrdiff_t first = -1;
    for (std::ptrdiff_t k = 0; k < count(); ++k) {
      if (c[std::size_t(k)] > 0 &&
          a_[std::size_t(set_[std::size_t(k)])] / c[std::size_t(k)] < most) {
        most = a_[std::size_t(set_[std::size_t(k)])] / c[std::size_t(k)];
        first = k;
      }
    }
    if (first < 0) return false;
    for (std::ptrdiff_t k = 0; k < count(); ++k) {
      double& now = a_[std::size_t(set_[std::size_t(k)])];
      now = std::max(0.0, now - most * c[std::size_t(k)]);
    }
    leave(first);
    a_[std::size_t(i)] = most;
    if (!enter(i)) a_[std::size_t(i)] = 0;
    return true;
  }

  const Cone& cone_;
  std::vector<double>& a_;
  double* d_;
  std::vector<std::ptrdiff_t> set_;
  std::vector<std::ptrdiff_t> position_;   ///< Index of each point in the set; -1: outside.
  std::vector<std::vector<double>> rows_;  ///< Factor of the set's products.
  std::vector<double> row_;
};

}  // namespace detail

/// The classifier of largest margin: the hard-margin support vector machine without offset.
struct LargestMargin {
  std::vector<double> position;      ///< Coordinates, `Cone::stride()` long, norm 1.
  std::vector<double> coefficients;  ///< Dual coefficients, m; y_i alpha_i >= 0.
  double margin = 0;                 ///< min_i d_i of the position; positive: inside version space.
  double upper_bound = 0;            ///< No classifier of norm 1 has a larger margin.
  std::uint64_t steps = 0;           ///< Number of ascent steps.

  /// Maximises min_i d_i over norm(w) = 1, until the margin is at least `fraction` of its upper
  /// bound.
  ///
  /// Dual ascent on sum_i a_i - norm(sum_i a_i s_i)^2 / 2, a >= 0: first one coordinate at a time,
  /// the one that gains most, by exact steps (C. Hildreth, Naval Res. Logist. Q. 4, 1957; the
  /// greedy rule: J. Nutini et al., ICML 2015), which is fast where margins are wide; where that
  /// has not sufficed after 1000 + 20 m steps, by an active set, which is exact (see
  /// `detail::MarginActiveSet`). The margin of the current w / norm(w) is a lower bound, and
  /// norm(w) / sum_i a_i an upper one, because every w' of norm 1 has min_i d'_i <= sum_i a_i d'_i
  /// / sum_i a_i <= norm(w) / sum_i a_i.
  ///
  /// If nothing separates the data the active set shows it, or the upper bound falls below
  /// `bound_tolerance` times the smallest norm(s_i), or `max_steps` (0: 1000 + 40 m) end the
  /// search. Cost: O(m) per step of the first kind with `Cone::form_products`, O(m r) without; O(m
  /// r + k^2) of the second, k the number of support vectors, and O(k^3) when one of them leaves.
  [[nodiscard]] static LargestMargin find(const Cone& cone, double fraction = 0.5,
                                          std::uint64_t max_steps = 0,
                                          double bound_tolerance = 1e-9) {
    const std::ptrdiff_t m = cone.points();
    const std::ptrdiff_t length = cone.output_stride();
    const auto size = static_cast<std::size_t>(m);
    const std::uint64_t greedy_steps = 1000 + 20 * size;
    if (max_steps == 0) max_steps = greedy_steps + 20 * size;
    std::vector<double> a(size, 0.0);
    std::vector<double> d(static_cast<std::size_t>(length), 0.0);
    std::vector<double> column(static_cast<std::size_t>(length), 0.0);
    double shortest = std::numeric_limits<double>::infinity();  // No margin can be larger.
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      if (cone.row_norm(i) > 0) shortest = std::min(shortest, cone.row_norm(i));
    }

    LargestMargin result;
    result.upper_bound = shortest;
    std::optional<detail::MarginActiveSet> active;
    double norm = 0;
    for (;; ++result.steps) {
      // Find the best coordinate step and both bounds.
      std::ptrdiff_t best = -1;
      double best_gain = 0;
      double best_step = 0;
      double smallest = d[0];
      double squared_norm = 0;
      double total = 0;
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        const double di = d[std::size_t(i)];
        smallest = std::min(smallest, di);
        squared_norm += a[std::size_t(i)] * di;
        total += a[std::size_t(i)];
        const double squared = cone.row_norm(i) * cone.row_norm(i);
        if (squared <= 0) continue;
        const double step = std::max((1 - di) / squared, -a[std::size_t(i)]);
        const double gain = step * ((1 - di) - 0.5 * step * squared);
        if (gain > best_gain) {
          best = i;
          best_gain = gain;
          best_step = step;
        }
      }
      norm = std::sqrt(std::max(0.0, squared_norm));
      result.margin = norm > 0 ? smallest / norm : 0.0;
      if (total > 0) result.upper_bound = std::min(result.upper_bound, norm / total);
      if (best < 0 || result.steps >= max_steps || !(norm * shortest < 1e150) ||
          (norm > 0 && result.margin >= fraction * result.upper_bound) ||
          result.upper_bound < bound_tolerance * shortest) {
        break;
      }
      if (result.steps >= greedy_steps) {
        if (!active) {
          active.emplace(cone, a, d.data());
        } else {
          const auto step = active->step();
          if (step == detail::MarginActiveSet::Step::unbounded) result.upper_bound = 0;
          if (step != detail::MarginActiveSet::Step::improved) break;
        }
        continue;
      }
      a[std::size_t(best)] += best_step;
      if (!cone.has_products()) cone.outputs(cone.row(best), column.data());
      detail::add_scaled(d.data(), best_step,
                         cone.has_products() ? cone.product_row(best) : column.data(), length);
    }
    result.position.assign(static_cast<std::size_t>(cone.stride()), 0.0);
    cone.add_rows(a.data(), result.position.data());
    norm = detail::scale_to_unit(result.position.data(), cone.stride());
    if (norm > 0) {
      // Recompute the margin of the returned position, free of accumulated rounding.
      result.margin = cone.smallest_output(result.position).first;
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        result.coefficients.push_back(cone.label(i) * a[std::size_t(i)] / norm);
      }
    }
    return result;
  }
};

namespace detail {

/// Start of the chains.
struct ChainStart {
  std::vector<double> position;  ///< Coordinates of norm 1; empty: none was found.
  std::string reason;            ///< Why none was found.
  std::uint64_t mistakes = 0;    ///< Mistakes of the perceptron that searched it.
};

/// Finds a solution of norm 1 by a perceptron in coordinates: passes in one random order of the
/// points until one makes no mistake. Empty after `passes` passes. Cost: m r a pass, r a mistake.
[[nodiscard]] inline std::vector<double> find_by_perceptron(const Cone& cone, RandomEngine& engine,
                                                            std::int64_t passes,
                                                            std::uint64_t& mistakes) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(cone.points()));
  random_permutation(std::span<std::int64_t>(order), engine);
  std::vector<double> x(static_cast<std::size_t>(cone.stride()), 0.0);
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    bool consistent = true;
    for (const std::int64_t i : order) {
      if (dot(x.data(), cone.row(i), cone.stride()) <= 0) {
        add_scaled(x.data(), 1.0, cone.row(i), cone.stride());
        consistent = false;
        ++mistakes;
      }
    }
    if (!consistent) continue;
    scale_to_unit(x.data(), cone.stride());
    // Rounding may have put it on a plane.
    return cone.smallest_output(x).first > 0 ? x : std::vector<double>{};
  }
  return {};
}

/// Finds the start that the plan requests: the caller's, a perceptron's, or that of the largest
/// margin, which is also the fallback of the perceptron. \throws std::invalid_argument on a
/// caller's start of wrong size, zero or, unless allowed, outside; and unless outside is allowed,
/// on a point with k(x, x) + lambda = 0.
[[nodiscard]] inline ChainStart find_start(const Cone& cone, const ConePlan& plan,
                                           std::uint64_t seed) {
  const std::string_view function = plan.name;
  ChainStart start;
  for (std::ptrdiff_t i = 0; !plan.may_be_outside && i < cone.points(); ++i) {
    check(
        cone.row_norm(i) > 0, function, "space", "has k(x, x) + lambda = 0 at point ", i,
        ", so no classifier gives it a sign; add a bias to the kernel, a soft boundary lambda > 0, "
        "or label noise");
  }
  if (!plan.start_coefficients.empty()) {
    check_size(function, "start_coefficients", plan.start_coefficients.size(), cone.points(),
               "one per training point");
    start.position = cone.coordinates(plan.start_coefficients);
    check(scale_to_unit(start.position.data(), cone.stride()) > 0, function, "start_coefficients",
          "are the zero classifier, must have a direction");
    const auto [margin, where] = cone.smallest_output(start.position);
    check(plan.may_be_outside || margin > 0, function, "start_coefficients",
          "lie outside version space: at norm 1 the signed output at point ", where, " is ", margin,
          ", must be positive; start inside, or allow label noise");
    return start;
  }
  if (plan.start == ConePlan::Start::perceptron) {
    RandomEngine engine(seed, 0);
    const std::int64_t passes = std::max<std::int64_t>(1000, 5'000'000 / cone.points());
    start.position = find_by_perceptron(cone, engine, passes, start.mistakes);
    if (!start.position.empty()) return start;
  }
  LargestMargin found = LargestMargin::find(cone);
  start.position = std::move(found.position);
  if (!(found.margin > 0) && !plan.may_be_outside) {
    start.position.clear();
    start.reason =
        join("a search for the largest margin ended after ", found.steps,
             " steps with a smallest signed output of ", found.margin,
             " at norm 1, and no margin can be above ", found.upper_bound, " (rank ", cone.rank(),
             " of ", cone.points(), " points, ", cone.residual(),
             " of a kernel value left out); a soft boundary lambda > 0, or label noise q > 0 "
             "in KernelGibbs, admits training errors; kernel values in double or a smaller "
             "factor_tolerance tell thin version spaces from empty ones");
  } else if (dot(start.position.data(), start.position.data(), cone.stride()) <= 0) {
    start.position[0] = 1;  // With noise, and no direction is better than another.
  }
  return start;
}

/// Finds the start of a chain after the first: a perceptron's solution of its own, so that chains
/// begin apart and their agreement means something. Returns `start` if the caller chose it, with
/// label noise, where version space may be empty, and if 100 passes (20 000 visits on small sets)
/// find no solution. Cost: at most so many passes, m r each.
[[nodiscard]] inline std::vector<double> chain_start(const Cone& cone, const ConePlan& plan,
                                                     std::span<const double> start,
                                                     RandomEngine& engine) {
  std::uint64_t mistakes = 0;
  std::vector<double> own;
  if (plan.start_coefficients.empty() && !plan.may_be_outside) {
    own = find_by_perceptron(cone, engine, std::max<std::int64_t>(100, 20'000 / cone.points()),
                             mistakes);
  }
  return own.empty() ? std::vector<double>(start.begin(), start.end()) : own;
}

}  // namespace detail
}}  // namespace bpm
