// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// A kept draw: a classifier of norm 1 by its dual coefficients.
struct KeptDraw {
  std::uint64_t number = 0;
  double weight = 1;
  std::vector<PointIndex> support;  ///< Training points, ascending.
  std::vector<double> coefficients;

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("number", self.number);
    visit("weight", self.weight, Bound::positive);
    visit("support", self.support, PointNumbers{});
    visit("coefficients", self.coefficients);
  }
  void after_reading(std::ptrdiff_t /*points*/) const {
    check_size("KeptDraw", "coefficients", coefficients.size(), support.size(),
               "one a support point");
  }
};

/// The mean of one binary subproblem: that of its draws with their weights, as sums in the order of
/// the draws, so that a run and its continuation give the same bits as one longer run; or the
/// centre of mass that a chain sampler reports.
class DrawMean {
 public:
  /// With `of_draws` false it only counts and keeps draws, and `set_centre` sets the mean.
  DrawMean(std::ptrdiff_t points, bool keep_draws, bool of_draws = true)
      : keep_(keep_draws),
        of_draws_(of_draws),
        coefficients_(static_cast<std::size_t>(points), 0.0),
        outputs_(static_cast<std::size_t>(points), 0.0) {}

  /// Adds a draw. Cost: as many additions and comparisons as the draw has numbers. \throws
  /// std::invalid_argument on an invalid draw of a sampler: sizes that disagree, points that do not
  /// ascend or do not exist, numbers not finite, a weight that is not positive.
  void add(const Draw& draw);

  /// Sets E[w] of all draws so far.
  /// \throws std::invalid_argument on a centre of other sizes, or with numbers that are not finite.
  void set_centre(const CentreOfMass& centre);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] const std::vector<KeptDraw>& kept() const noexcept { return kept_; }
  /// Held-out points of draws, with their outputs in place of coefficients.
  [[nodiscard]] const std::vector<KeptDraw>& left_out() const noexcept { return left_out_; }

  /// Returns the coefficient of training point i in the mean E[w].
  [[nodiscard]] double coefficient(std::ptrdiff_t i) const { return coefficients_[i] / weight_; }
  /// Returns <E[w], x_i> under the sampling kernel.
  [[nodiscard]] double output(std::ptrdiff_t i) const { return outputs_[i] / weight_; }

  /// Returns <E[w], x_i> under the plain kernel, for a point with this lambda.
  [[nodiscard]] double plain_output(std::ptrdiff_t i, double lambda) const;

  /// Returns norm(E[w]), at most 1.
  [[nodiscard]] double norm() const;

  [[nodiscard]] std::ptrdiff_t size() const noexcept { return std::ssize(coefficients_); }

  /// Returns the coefficients of the mean and its kept draws, over `unit`, among `all` points of
  /// which these are the mean's own; without outputs.
  [[nodiscard]] DrawMean on_points(std::span<const PointIndex> points, std::ptrdiff_t all,
                                   double unit) const;

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("coefficients", self.coefficients_, Bound::per_point);
    visit("outputs", self.outputs_, Bound::per_point);
    visit("weight", self.weight_, Bound::positive);
    visit("count", self.count_, Between{1, Bound::counted.most});
    visit("kept", self.kept_);
    visit("left_out", self.left_out_);
  }

  [[nodiscard]] static std::size_t bytes_needed(std::ptrdiff_t points);

 private:
  void check_draw(const Draw& draw) const;

  bool keep_;
  bool of_draws_;
  std::vector<double> coefficients_;
  std::vector<double> outputs_;
  double weight_ = 0;
  std::uint64_t count_ = 0;
  std::vector<KeptDraw> kept_;
  std::vector<KeptDraw> left_out_;
};

#if BPM_BODIES

BPM_INLINE void DrawMean::add(const Draw& draw) {
  check_draw(draw);
  for (std::size_t s = 0; of_draws_ && s < draw.support.size(); ++s) {
    double& sum = coefficients_[draw.support[s]];
    sum = multiply_add(draw.weight, draw.coefficients[s], sum);
  }
  for (std::size_t i = 0; of_draws_ && i < outputs_.size(); ++i) {
    outputs_[i] = multiply_add(draw.weight, draw.outputs[i], outputs_[i]);
  }
  if (of_draws_) weight_ += draw.weight;
  ++count_;
  if (!draw.left_out.empty()) {
    left_out_.push_back({draw.number,
                         draw.weight,
                         {draw.left_out.begin(), draw.left_out.end()},
                         {draw.left_out_outputs.begin(), draw.left_out_outputs.end()}});
  }
  if (keep_) {
    kept_.push_back({draw.number,
                     draw.weight,
                     {draw.support.begin(), draw.support.end()},
                     {draw.coefficients.begin(), draw.coefficients.end()}});
  }
}

BPM_INLINE void DrawMean::set_centre(const CentreOfMass& centre) {
  for (const auto* numbers : {&centre.coefficients, &centre.outputs}) {
    check(std::ssize(*numbers) == size(), "sampler", "centre", "has ", centre.coefficients.size(),
          " coefficients and ", centre.outputs.size(), " outputs, expected ", size(), " of each");
    for (const double number : *numbers) {
      check(std::isfinite(number), "sampler", "centre", "has numbers that are not finite");
    }
  }
  coefficients_ = centre.coefficients;
  outputs_ = centre.outputs;
  weight_ = 1;
}

BPM_INLINE double DrawMean::plain_output(std::ptrdiff_t i, double lambda) const {
  return output(i) - lambda * coefficient(i);
}

BPM_INLINE double DrawMean::norm() const {
  double squared = 0;
  for (std::ptrdiff_t i = 0; i < size(); ++i) {
    squared += coefficient(i) * output(i);
  }
  return std::sqrt(std::max(0.0, squared));
}

BPM_INLINE DrawMean DrawMean::on_points(std::span<const PointIndex> points, std::ptrdiff_t all,
                                        double unit) const {
  DrawMean result(0, keep_);
  result.coefficients_.assign(static_cast<std::size_t>(all), 0.0);
  for (std::size_t k = 0; k < points.size(); ++k) {
    result.coefficients_[points[k]] = coefficient(static_cast<std::ptrdiff_t>(k)) / unit;
  }
  result.weight_ = 1;
  result.count_ = count_;
  result.kept_ = kept_;
  for (KeptDraw& draw : result.kept_) {
    for (PointIndex& i : draw.support) i = points[i];
    for (double& alpha : draw.coefficients) alpha /= unit;
  }
  return result;
}

BPM_INLINE std::size_t DrawMean::bytes_needed(std::ptrdiff_t points) {
  return 2 * static_cast<std::size_t>(points) * sizeof(double);
}

BPM_INLINE void DrawMean::check_draw(const Draw& draw) const {
  const auto require = [&](bool holds, const auto&... what) {
    check(holds, "sampler", "draw", draw.number, " has ", what...);
  };
  require(std::ssize(draw.outputs) == size(), draw.outputs.size(), " outputs, expected ", size());
  for (std::size_t i = 0; i < draw.outputs.size(); ++i) {
    require(std::isfinite(draw.outputs[i]), "the output ", draw.outputs[i], " at ", i,
            ", must be finite");
  }
  require(std::isfinite(draw.weight) && draw.weight > 0, "the weight ", draw.weight,
          ", must be positive and finite");
  const auto check_points = [&](std::span<const PointIndex> points, std::span<const double> values,
                                const char* point, const char* value) {
    require(points.size() == values.size(), points.size(), " ", point, "s and ", values.size(), " ",
            value, "s");
    PointIndex last = -1;
    for (std::size_t s = 0; s < points.size(); ++s) {
      require(points[s] > last && points[s] < size(), "the ", point, " ", points[s], " after ",
              last, ", must ascend below ", size());
      require(std::isfinite(values[s]), "the ", value, " ", values[s], " at ", points[s],
              ", must be finite");
      last = points[s];
    }
  };
  check_points(draw.support, draw.coefficients, "support point", "coefficient");
  check_points(draw.left_out, draw.left_out_outputs, "point left out", "output");
}

#endif

}}}  // namespace bpm::detail
