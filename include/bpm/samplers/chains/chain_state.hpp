// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/chains/convergence.hpp"
#include "bpm/version_space/cone.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Random vectors of R^r and directions by them, made `count` at a time, so that the outputs of all
/// are one matrix product. A copyable value.
class RandomDirections {
 public:
  /// A vector z of independent standard normal numbers, decomposed by a position b of norm 1.
  struct Direction {
    const double* vector;   ///< Vector z, `stride()` long.
    const double* outputs;  ///< Outputs S z.
    double along;           ///< <z, b>.
    double across;          ///< Norm of z - <z, b> b.
  };

  explicit RandomDirections(std::ptrdiff_t count) : block_{count, count} {}

  [[nodiscard]] bool used_up() const noexcept { return block_.next == block_.count; }

  /// Makes new vectors. If b is given, the same product recomputes its outputs in `d`.
  void make(const Cone& cone, RandomEngine& engine, const double* b = nullptr,
            double* d = nullptr) {
    const std::ptrdiff_t count = block_.count;
    if (block_.vectors.size() == 0) block_.vectors = Buffer<double>(count * cone.stride(), 0.0);
    for (std::ptrdiff_t n = 0; n < count; ++n) {
      double* x = block_.vectors.data() + n * cone.stride();
      Ziggurat::instance().fill(x, cone.rank(), engine);
    }
    block_.next = 0;
    set_outputs(cone, b);
    if (b != nullptr) std::copy_n(outputs_.data() + count * cone.output_stride(), cone.points(), d);
  }

  /// Returns the next vector, decomposed by b.
  [[nodiscard]] Direction take(const Cone& cone, const double* b) {
    const std::ptrdiff_t length = cone.stride();
    const double* z = block_.vectors.data() + block_.next * length;
    const double* outputs = outputs_.data() + block_.next++ * cone.output_stride();
    const double along = dot(b, z, length);
    return {z, outputs, along, std::sqrt(std::max(0.0, dot(z, z, length) - along * along))};
  }

  /// Draws a direction v with <b, v> = 0 and norm 1, and its signed outputs nu, for which d are
  /// those of b. Cost: O(m), and m r for each vector of a block.
  void tangent(const Cone& cone, RandomEngine& engine, const double* b, const double* d, double* v,
               double* nu) {
    Direction z{};
    do {
      if (used_up()) make(cone, engine);
      z = take(cone, b);
      // The direction of the part across b does not depend on its length: dropping short parts,
      // which suffer cancellation, changes no law.
    } while (!(z.across > std::max(1e-6, 0.1 * std::abs(z.along))));
    const double scale = 1 / z.across;
    combine(v, scale, z.vector, -scale * z.along, b, cone.stride());
    combine(nu, scale, z.outputs, -scale * z.along, d, cone.points());
  }

  /// Visits the vectors that were made and not yet used.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("block", self.block_);
  }
  /// Recomputes the outputs after reading.
  void take_up(const Cone& cone) {
    if (block_.vectors.size() > 0) set_outputs(cone, nullptr);
  }

 private:
  struct Block {
    std::ptrdiff_t count;
    std::ptrdiff_t next;
    Buffer<double> vectors{};

    template <class Self, class Visit>
    static void visit_members(Self& self, Visit&& visit) {
      visit("vectors", self.vectors, Rows{Rows::Of::rank, self.count, true, true});
      visit("next", self.next, Between{0, static_cast<double>(self.count)});
    }
    void after_reading(std::ptrdiff_t /*points*/) {
      if (vectors.size() == 0) next = count;  // None was made yet.
    }
  };

  /// Computes the outputs of the vectors, then those of b if it is given.
  void set_outputs(const Cone& cone, const double* b) {
    const std::ptrdiff_t ld = cone.output_stride();
    if (outputs_.size() == 0) outputs_ = Buffer<double>((block_.count + 1) * ld, 0.0);
    auto vectors = row_pointers<double>(block_.vectors.data(), block_.count, cone.stride());
    if (b != nullptr) vectors.push_back(b);
    cone.outputs(vectors, outputs_.data(), ld);
  }

  Block block_;
  Buffer<double> outputs_;
};

inline constexpr unsigned most_chains = 1024;

/// Throws unless x has norm 1 and, with `inside`, lies inside version space: chains that were read
/// and stand elsewhere need not end.
inline void check_position(const Cone& cone, std::span<const double> x, bool inside) {
  const double squared = dot(x.data(), x.data(), std::ssize(x));
  check(std::abs(squared - 1) <= 1e-6, "chain", "position", "has a square of ", squared,
        ", must be 1");
  if (!inside) return;
  const auto [smallest, where] = cone.smallest_output(x);
  check(smallest > 0, "chain", "position", "has the signed output ", smallest, " at point ", where,
        ", must be positive");
}

/// State of the chains of a run, from which another run continues exactly: 5 draws and 5 more are
/// the same as 10, to the bit. A copyable value; empty before the first run. It belongs to the
/// version space and the settings (other than the budget) that it was made with.
template <class Chain>
struct ChainState {
  [[nodiscard]] bool empty() const noexcept { return chains.empty(); }
  /// Centre of mass estimated by all draws so far. Empty before the first draw.
  [[nodiscard]] const CentreOfMass& centre() const noexcept { return centre_of_mass; }

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("rank", self.rank, ConeRank{});
    visit("chains", self.chains);
    visit("batches", self.batches);
    visit("series", self.series);
    visit("draws", self.draws, Bound::counted);
    visit("start_margin", self.start_margin);
    visit("centre", self.centre_of_mass);
  }
  void after_reading(std::ptrdiff_t all) {
    check(!chains.empty() && chains.size() <= most_chains && batches.size() == chains.size(),
          "chain", "batches", "are of ", batches.size(), " chains, there are ", chains.size(),
          ", must be from 1 to ", most_chains);
    check(series.size() == chains.size(), "chain", "series", "are of ", series.size(),
          " chains, there are ", chains.size());
    points = all;
    read = true;
  }

  // Used by the run of the chains.
  std::vector<Chain> chains;
  std::vector<BatchMeans> batches;   ///< One for each chain.
  std::vector<OutputSeries> series;  ///< One for each chain.
  std::ptrdiff_t points = 0;         ///< Number of points of its version space.
  std::ptrdiff_t rank = 0;
  std::uint64_t draws = 0;  ///< Number of draws so far; draw n is of chain n mod chains.
  double start_margin = 0;
  CentreOfMass centre_of_mass;
  bool read = false;  ///< Read from a file, and not completed yet.
};

/// Angle between two vectors of `length` numbers, accurate for small ones.
[[nodiscard]] inline double angle_between(const double* a, const double* b, std::ptrdiff_t length) {
  const double aa = dot(a, a, length);
  const double bb = dot(b, b, length);
  if (!(aa > 0) || !(bb > 0)) {
    return 0;
  }
  double difference = 0;
  double sum = 0;
  for (std::ptrdiff_t k = 0; k < length; ++k) {
    const double x = a[k] / std::sqrt(aa);
    const double y = b[k] / std::sqrt(bb);
    difference += (x - y) * (x - y);
    sum += (x + y) * (x + y);
  }
  return 2 * std::atan2(std::sqrt(difference), std::sqrt(sum));
}

/// Computes the centre of mass of several chains. The estimate of E[w] is unbiased but may lie
/// outside version space; with `inside` such an estimate is moved towards the mean of the chains'
/// points, which is inside, until it is inside.
template <class Chain>
[[nodiscard]] CentreOfMass centre_of(const Cone& cone, std::span<const Chain> chains,
                                     bool inside = true) {
  const auto m = static_cast<std::size_t>(cone.points());
  const std::ptrdiff_t stride = cone.stride();
  CentreOfMass centre{std::vector<double>(m, 0.0), std::vector<double>(m, 0.0), 0};
  double weight = 0;
  for (const Chain& chain : chains) weight += chain.weight();
  if (!(weight > 0)) {
    return centre;
  }
  std::vector<double> x(static_cast<std::size_t>(stride), 0.0);
  for (const Chain& chain : chains) {
    chain.add_sum(cone, 1 / weight, x.data());
    chain.add_dual_sum(cone, 1 / weight, centre.coefficients.data());
  }
  cone.outputs(x.data(), centre.outputs.data());
  if (inside && !(*std::min_element(centre.outputs.begin(), centre.outputs.end()) > 0)) {
    std::vector<double> rest(static_cast<std::size_t>(stride), 0.0);
    for (const Chain& chain : chains) chain.add_inside_sum(cone, 1 / weight, rest.data());
    std::vector<double> there(m);
    cone.outputs(rest.data(), there.data());
    double back = 0;  // Share of the way that it is moved.
    for (std::size_t i = 0; i < m; ++i) {
      const double here = centre.outputs[i];
      if (!(here > 0)) {
        const double gap = there[i] - here;
        back = std::max(back, gap > 0 ? -here / gap : 1.0);
      }
    }
    back = std::min(1.0, back + 0.1 * (1 - back));
    add_scaled(rest.data(), -1.0, x.data(), stride);
    cone.add_dual_coefficients(rest.data(), back, centre.coefficients.data());
    add_scaled(x.data(), back, rest.data(), stride);
    cone.outputs(x.data(), centre.outputs.data());
  }
  for (std::size_t i = 0; i < m; ++i) {
    centre.outputs[i] *= cone.label(static_cast<std::ptrdiff_t>(i));
  }
  centre.norm = std::sqrt(dot(x.data(), x.data(), stride));
  return centre;
}

/// Spread of sums over parts of the chains about their weight times the overall mean.
class Spread {
 public:
  Spread(const std::vector<double>& mean, double squared_norm)
      : mean_(mean), squared_norm_(squared_norm) {}

  void add(const std::vector<double>& sum, double weight) {
    double off_squared = 0;
    double along = 0;
    for (std::size_t k = 0; k < mean_.size(); ++k) {
      const double off = sum[k] - weight * mean_[k];
      off_squared += off * off;
      along += off * mean_[k];
    }
    const double across = std::max(0.0, off_squared - along * along / squared_norm_);
    all_ += off_squared;
    across_ += across;
    across_squares_ += across * across;
    weight_ += weight;
    ++count_;
  }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Estimated variance of the mean; and of its direction, in rad^2.
  [[nodiscard]] double of_mean() const { return unbiased(all_); }
  [[nodiscard]] double of_direction() const { return unbiased(across_) / squared_norm_; }
  /// Effective number of dimensions in which the direction varies, (tr C)^2 / tr C^2 of its
  /// covariance C: squares of normal deviations have the mean tr C and the variance 2 tr C^2.
  [[nodiscard]] double dimension() const {
    const auto n = static_cast<double>(count_);
    const double mean = across_ / n;
    const double variance = (across_squares_ - n * mean * mean) / (n - 1);
    return variance > 0 ? std::max(1.0, 2 * mean * mean / variance)
                        : std::numeric_limits<double>::infinity();
  }

 private:
  [[nodiscard]] double unbiased(double squares) const {
    const auto n = static_cast<double>(count_);
    return n / (n - 1) * squares / (weight_ * weight_);
  }

  const std::vector<double>& mean_;
  double squared_norm_;
  double all_ = 0;
  double across_ = 0;
  double across_squares_ = 0;
  double weight_ = 0;
  std::size_t count_ = 0;
};

/// Estimates the error of the centre by the spread of up to 16 batches of all chains together (of
/// more chains, one each), and by fewer and longer ones, at last whole chains, if these vary more
/// than chance explains: then short batches are dependent, and their spread is too small. More than
/// 16 would overestimate the error of flights that return to where they were: the error of a batch
/// is then that of its ends.
template <class Chain>
void judge_error(const ChainState<Chain>& state, const std::vector<double>& mean, double squared,
                 ChainReport& report) {
  double dimension = 0;
  double variance = 0;
  double freedom = 0;
  std::size_t before = 0;
  for (const std::size_t count : {16U, 8U, 4U, 1U}) {
    const std::size_t batches_a_chain = std::max<std::size_t>(1, count / state.batches.size());
    if (batches_a_chain == before) continue;
    before = batches_a_chain;
    Spread spread(mean, squared);
    for (const BatchMeans& batches : state.batches) {
      batches.for_each(batches_a_chain, [&](const std::vector<double>& sum, double weight) {
        spread.add(sum, weight);
      });
    }
    const bool first = freedom == 0;
    if (spread.count() < (first ? 4U : 2U)) {
      break;
    }
    if (first) {
      dimension = spread.dimension();
      report.effective_draws = spread.of_mean() > 0 ? std::max(0.0, 1 - squared) / spread.of_mean()
                                                    : std::numeric_limits<double>::infinity();
    }
    // Log variances with f degrees of freedom vary by about 2 / f: chance changes the estimate in
    // one comparison of a hundred.
    const double now = spread.of_direction();
    const double its_freedom = dimension * static_cast<double>(spread.count() - 1);
    constexpr double one_in_a_hundred = 2.326;
    if (first ||
        now > variance * std::exp(one_in_a_hundred * std::sqrt(2 / freedom + 2 / its_freedom))) {
      variance = now;
      freedom = its_freedom;
    }
  }
  if (freedom > 0) report.standard_error = std::sqrt(variance);
}

/// Diagnostics of all draws of the state so far.
template <class Chain>
[[nodiscard]] ChainReport judge_chains(const Cone& cone, const ChainState<Chain>& state) {
  const std::ptrdiff_t stride = cone.stride();
  const auto size = static_cast<std::size_t>(stride);
  ChainReport report;
  report.chains = static_cast<unsigned>(state.chains.size());
  report.rank = cone.rank();
  report.residual = cone.residual();
  report.start_margin = state.start_margin;
  double weight = 0;
  double begun = 0;
  std::vector<double> mean(size, 0.0);
  std::vector<std::vector<double>> sums;
  for (const Chain& chain : state.chains) {
    chain.add_to(report);
    weight += chain.weight();
    if (chain.weight() > 0) ++begun;
    chain.add_sum(cone, 1.0, mean.data());
    sums.emplace_back(size, 0.0);
    chain.add_sum(cone, 1.0, sums.back().data());
  }
  if (!(weight > 0)) {
    return report;
  }
  report.mean_errors /= begun;
  scale_by(mean.data(), 1 / weight, stride);
  const double squared = dot(mean.data(), mean.data(), stride);
  report.mean_norm = std::sqrt(squared);
  for (std::size_t a = 0; a < sums.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      report.chain_angle =
          std::max(report.chain_angle, angle_between(sums[a].data(), sums[b].data(), stride));
    }
  }
  if (squared > 0) judge_error(state, mean, squared, report);
  return report;
}

}}}  // namespace bpm::detail
