// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Number of batches of `batch_variance`.
inline constexpr std::size_t variance_batches = 16;

/// The variance of the mean of correlated values, by 16 batch means: nearly unbiased if a batch is
/// long compared with the chain's memory, with 15 degrees of freedom. Intervals by Student's t then
/// have their nominal coverage; the largest variance of several numbers of batches gave 97 to 98 %
/// for 95. Values that do not fill the batches are dropped at the beginning, and the mean is that
/// of the batches: with the mean of all values the divisor b (b - 1) would give too little. Needs
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
/// freedom of that variance (F. Satterthwaite 1946, B. Welch 1947), infinite if the variance is 0.
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

/// The centre of mass of version space as estimated by a chain sampler: the mean E[w] of the
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

/// Diagnostics of a run of Markov chains. All chains together, since the first draw, except the
/// first three counts, which are of the last run; angles in radians.
struct ChainReport {
  std::uint64_t steps = 0;      ///< Steps (billiard: bounces) after the burn-in.
  std::uint64_t refreshes = 0;  ///< Billiard: new random directions.
  std::uint64_t repairs = 0;    ///< Corrections of outputs that drifted outside.
  unsigned chains = 0;          ///< Number of chains, which make draws in turn.
  std::uint64_t burn_in = 0;    ///< Steps (bounces) that were discarded.
  double path_length = 0;       ///< Billiard: length of the path that was averaged.
  double refresh_length = 0;    ///< Billiard: mean path between new directions; 0: none.
  /// Estimated angle between the direction of the computed centre and the true one: by up to 16
  /// batches of all chains together (of more chains, one each), or by longer ones and whole chains
  /// if these vary more than chance explains. Infinity with too few draws. Chains that have one
  /// start (see detail::chain_start) and have stayed near it look better than they are.
  double standard_error = std::numeric_limits<double>::infinity();
  double effective_draws = 0;  ///< Number of independent draws with an equally good mean.
  double chain_angle = 0;      ///< Largest angle between the centres of two chains.
  /// Split R-hat of rank-normalised outputs (A. Vehtari et al., Bayesian Analysis 16, 2021), the
  /// largest of 20 training points (all if fewer, the same for equal m): near 1 if the chains, and
  /// their first and last halves, agree on one law. Uses at most 512 equally spaced draws per
  /// chain. Infinity if no chain moves and they differ. 0: unknown, a chain has fewer than 16.
  double r_hat = 0;
  /// Number of independent draws that would estimate the middle of the law of these outputs as well
  /// as the draws of R-hat ("bulk effective sample size"): the smallest of the points.
  double bulk_effective_draws = 0;
  double mean_norm = 0;     ///< norm(E[w]).
  double mean_errors = 0;   ///< Gibbs with noise: mean training errors of a state.
  std::ptrdiff_t rank = 0;  ///< Dimension of the sampled space.
  double residual = 0;      ///< Largest part of k(x, x) + lambda missing in the factor.
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

  /// Merges the report of another problem (class): adds counts, keeps the worst of the rest.
  void merge(const ChainReport& other) {
    if (chains == 0) return append(other);  // The first report.
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
  /// Appends the report of a later run of the same chains; of a run that ended before its chains
  /// moved, only the counts.
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
