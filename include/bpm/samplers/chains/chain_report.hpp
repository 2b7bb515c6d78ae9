// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/members.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Batches of `batch_variance`.
inline constexpr std::size_t variance_batches = 16;

/// The running sums of one chain at equally spaced draws, at most 64 of them: when there are more,
/// every other one is dropped. Their differences are batches, whose spread tells how far the mean
/// is from the truth (J. Flegal, G. Jones, Ann. Statist. 38(2), 2010). A value.
class BatchMeans {
 public:
  /// Whether the sum at draw number `draw` (1, 2, ...) is wanted.
  [[nodiscard]] bool wanted(std::uint64_t draw) const noexcept { return draw % spacing_ == 0; }

  void add(std::vector<double> sum, double weight) {
    sums_.push_back(std::move(sum));
    weights_.push_back(weight);
    if (sums_.size() == most) {
      for (std::size_t k = 1; k < most; k += 2) {
        sums_[k / 2] = std::move(sums_[k]);
        weights_[k / 2] = weights_[k];
      }
      sums_.resize(most / 2);
      weights_.resize(most / 2);
      spacing_ *= 2;
    }
  }

  /// Calls batch(difference of sums, difference of weights) for `count` batches, or as many as
  /// there are sums, of numbers of draws as equal as may be, from the start to the last sum: at
  /// most one draw in 32 is behind it. Batches that left more out would make the mean seem less
  /// exact than it is.
  template <class Batch>
  void for_each(std::size_t count, Batch&& batch) const {
    count = std::min(count, sums_.size());
    std::vector<double> difference;
    std::size_t begin = 0;
    for (std::size_t k = 1; k <= count; ++k) {
      const std::size_t end = k * sums_.size() / count;
      difference = sums_[end - 1];
      for (std::size_t j = 0; begin > 0 && j < difference.size(); ++j) {
        difference[j] -= sums_[begin - 1][j];
      }
      batch(difference, weights_[end - 1] - (begin > 0 ? weights_[begin - 1] : 0.0));
      begin = end;
    }
  }

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("sums", self.sums_, Rows{Rows::Of::rank, -1});
    visit("weights", self.weights_);
    visit("spacing", self.spacing_, Between{1, Bound::counted.most});
  }
  void after_reading(std::ptrdiff_t /*points*/) const {
    check(sums_.size() < most && weights_.size() == sums_.size(), "chain", "batches", "have ",
          sums_.size(), " sums and ", weights_.size(), " weights, must be as many, and below ",
          most);
  }

 private:
  static constexpr std::size_t most = 64;

  std::vector<std::vector<double>> sums_;
  std::vector<double> weights_;
  std::uint64_t spacing_ = 1;
};

/// The variance of the mean of correlated values, by 16 batch means: nearly unbiased where a batch
/// is long against the chain's memory, and of 15 degrees of freedom. Intervals by Student's t then
/// hold the truth as often as they say; the largest of several numbers of batches gave 97 to 98 %
/// for 95. Values that do not fill the batches are left out at the beginning, and the mean is that
/// of the batches: against another one, of all values, divisor b (b - 1) would be too small. Needs
/// 16 values.
[[nodiscard]] inline double batch_variance(std::span<const double> values) {
  const std::size_t length = values.size() / variance_batches;
  const double* first = values.data() + (values.size() - variance_batches * length);
  constexpr auto count = static_cast<double>(variance_batches);
  double means[variance_batches];
  double all = 0;
  for (std::size_t b = 0; b < variance_batches; ++b) {
    means[b] = 0;
    for (std::size_t k = 0; k < length; ++k) means[b] += first[b * length + k];
    means[b] /= static_cast<double>(length);
    all += means[b] / count;
  }
  double squares = 0;
  for (const double mean : means) squares += (mean - all) * (mean - all);
  return squares / (count * (count - 1));
}

/// A sum of independent estimates with variances by batches: its variance and the degrees of
/// freedom of that (F. Satterthwaite 1946, B. Welch 1947), infinite where it is 0.
class SumOfSpreads {
 public:
  void add(double variance) noexcept {
    variance_ += variance;
    squares_ += variance * variance / (variance_batches - 1);
  }
  [[nodiscard]] double variance() const noexcept { return variance_; }
  [[nodiscard]] double freedom() const noexcept {
    return squares_ > 0 ? variance_ * variance_ / squares_
                        : std::numeric_limits<double>::infinity();
  }

 private:
  double variance_ = 0;
  double squares_ = 0;
};

}  // namespace detail

/// The centre of mass of version space as a chain sampler has found it: the mean E[w] of the
/// uniform law, which has norm below 1; its direction is the Bayes point.
struct CentreOfMass {
  std::vector<double> coefficients;  ///< Dual coefficients alpha of E[w], all m points.
  std::vector<double> outputs;       ///< <E[w], x_i> under the sampling kernel, all m points.
  double norm = 0;                   ///< norm(E[w]).

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("coefficients", self.coefficients, detail::Bound::per_point);
    visit("outputs", self.outputs, detail::Bound::per_point);
    visit("norm", self.norm);
  }
};

/// What a run of Markov chains tells about itself: whether to believe it. All chains together,
/// since the first draw, but for the first three counts, which are of the run; angles in radians.
struct ChainReport {
  std::uint64_t steps = 0;      ///< Billiard: bounces. After the burn-in.
  std::uint64_t refreshes = 0;  ///< Billiard: new random directions.
  std::uint64_t repairs = 0;    ///< Outputs brought back from drift outside version space.
  unsigned chains = 0;          ///< Whose draws were handed over in turn.
  std::uint64_t burn_in = 0;    ///< Steps (bounces) that were thrown away.
  double path_length = 0;       ///< Billiard: length of the path that was averaged.
  double refresh_length = 0;    ///< Billiard: mean path between new directions; 0: none in use.
  /// Estimated angle between the direction of the centre that was found and the true one: by up
  /// to 16 batches of all chains together (of more chains, one each), or by longer ones and whole
  /// chains where these say more than chance explains. Infinity where there are too few draws to
  /// tell. Chains that have one start (detail::chain_start says which) and have stayed near it look
  /// better than they are.
  double standard_error = std::numeric_limits<double>::infinity();
  double effective_draws = 0;  ///< Independent draws whose mean would be as good.
  double chain_angle = 0;      ///< Largest angle between the centres of two chains.
  /// Split R-hat of rank-normalised outputs (A. Vehtari et al., Bayesian Analysis 16, 2021), the
  /// largest of 20 training points (all where fewer, the same for as many points): near 1 where the
  /// chains, and their first and last halves, tell of one law. Of at most 512 equally spaced draws
  /// a chain; infinity where none moves and they differ. 0: not known, a chain has fewer than 16.
  double r_hat = 0;
  /// Independent draws that would tell the middle of the law of these outputs as well as those that
  /// R-hat is of ("bulk effective sample size"): the fewest of the points.
  double bulk_effective_draws = 0;
  double mean_norm = 0;     ///< norm(E[w]).
  double mean_errors = 0;   ///< Gibbs with noise: training errors of a state, on average.
  std::ptrdiff_t rank = 0;  ///< Dimension of the space that was sampled.
  double residual = 0;      ///< Largest part of a point's k(x, x) + lambda the factor left out.
  double start_margin = 0;  ///< min_i d_i of the first start, at norm 1.

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("steps", self.steps);
    visit("refreshes", self.refreshes);
    visit("repairs", self.repairs);
    visit("chains", self.chains);
    visit("burn_in", self.burn_in);
    visit("path_length", self.path_length);
    visit("refresh_length", self.refresh_length);
    visit("standard_error", self.standard_error);
    visit("effective_draws", self.effective_draws);
    visit("chain_angle", self.chain_angle);
    detail::visit_unless(0, "r_hat", self.r_hat, visit);
    detail::visit_unless(0, "bulk_effective_draws", self.bulk_effective_draws, visit);
    visit("mean_norm", self.mean_norm);
    visit("mean_errors", self.mean_errors);
    visit("rank", self.rank);
    visit("residual", self.residual);
    visit("start_margin", self.start_margin);
  }

  /// Takes in the report of another problem (class): counts are added, the rest is the worst.
  void merge(const ChainReport& other) {
    if (chains == 0) return append(other);  // The first.
    add_counts(other);
    chains = std::max(chains, other.chains);
    burn_in += other.burn_in;
    path_length += other.path_length;
    refresh_length = std::max(refresh_length, other.refresh_length);
    standard_error = std::max(standard_error, other.standard_error);
    effective_draws = std::min(effective_draws, other.effective_draws);
    chain_angle = std::max(chain_angle, other.chain_angle);
    r_hat = std::max(r_hat, other.r_hat);
    bulk_effective_draws = std::min(bulk_effective_draws, other.bulk_effective_draws);
    mean_norm = std::min(mean_norm, other.mean_norm);
    mean_errors = std::max(mean_errors, other.mean_errors);
    rank = std::max(rank, other.rank);
    residual = std::max(residual, other.residual);
    start_margin = std::min(start_margin, other.start_margin);
  }
  /// Takes in the report of a later run of the same chains; of one that ended before its chains
  /// moved the counts alone.
  void append(const ChainReport& later) {
    ChainReport all = later.chains > 0 ? later : *this;
    all.add_counts(later.chains > 0 ? *this : later);
    *this = all;
  }

 private:
  void add_counts(const ChainReport& other) {
    steps += other.steps;
    refreshes += other.refreshes;
    repairs += other.repairs;
  }
};

}}  // namespace bpm
