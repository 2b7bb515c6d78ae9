// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/random/streams.hpp"
#include "bpm/gaussian_process/orthant/orthant_chain.hpp"

namespace bpm {

/// Values of the exact posterior Q_GP = N(0, K | sign Upsilon = Y) ("Kernel interpolation as a
/// Bayes point machine", section 4.1), by chains. Voters of a chain follow each other and are
/// slightly dependent, which makes no bias.
///
/// Cost per voter: a trajectory of flights with reflections, about 0.5 ms at n = 1000 on kernel
/// matrices of digits. Memory: that of the law, and about 100 n doubles a chain.
class OrthantValues {
 public:
  struct Settings {
    /// Independent chains; voter v is of chain v mod chains. More of them use more threads.
    std::size_t chains = 8;
    std::uint64_t burn_in = 50;  ///< Trajectories of each chain before its first voter.
    /// Mean of a trajectory, in radians, one of which lies between two voters of a chain.
    double path_length = std::numbers::pi / 2;
  };

  /// Chain c uses stream (seed, streams.next + c); as for `IsotropicValues`, the caller's streams
  /// do not move on. Cost: n^3 / 6 multiply-adds for the Cholesky factor. Memory: 2 n^2 doubles.
  /// \throws std::invalid_argument unless the covariance is square, not empty, finite, symmetric
  ///         and positive on its diagonal, the signs are 1 or -1, one per row, chains >= 1, and the
  ///         path length is positive and at most 100; NotPositiveDefinite where the covariance is
  ///         singular or indefinite.
  OrthantValues(const Eigen::MatrixXd& covariance, std::span<const signed char> signs,
                const RandomStreams& streams)
      : OrthantValues(covariance, signs, streams, Settings{}) {}
  OrthantValues(const Eigen::MatrixXd& covariance, std::span<const signed char> signs,
                const RandomStreams& streams, const Settings& settings)
      : points_(covariance.rows()), burn_in_(settings.burn_in) {
    const detail::OrthantLaw law(covariance, signs, "OrthantValues");
    unit_ = std::sqrt(covariance.diagonal().maxCoeff());
    detail::check_at_least("OrthantValues", "chains", settings.chains, 1);
    const double path = detail::checked_path_length(settings.path_length, "OrthantValues");
    for (std::size_t c = 0; c < settings.chains; ++c) {
      chains_.emplace_back(law, path, streams.stream(streams.next + c));
    }
  }

  [[nodiscard]] Eigen::Index points() const noexcept { return points_; }
  /// The largest prior deviation of a value.
  [[nodiscard]] double unit() const noexcept { return unit_; }

  /// \throws std::invalid_argument unless voters are asked for in order.
  void fill(std::uint64_t first, Eigen::Ref<Eigen::MatrixXf> values, unsigned threads) {
    detail::check(first == next_, "OrthantValues::fill", "first", "is ", first,
                  ", must be the voter that follows, ", next_);
    detail::check_size("OrthantValues::fill", "values", values.rows(), points_,
                       "rows: one per training point");
    const auto count = static_cast<std::uint64_t>(values.cols());
    const auto chains = static_cast<std::uint64_t>(chains_.size());
    detail::parallel_for(threads, std::ssize(chains_), [&](unsigned, std::ptrdiff_t c) {
      detail::OrthantChain& chain = chains_[c];
      if (first == 0) chain.skip(burn_in_);
      std::vector<double> flown(static_cast<std::size_t>(points_));
      const auto own = static_cast<std::uint64_t>(c);
      // The first voter of this chain from `first` on.
      for (std::uint64_t v = first + (own + chains - first % chains) % chains; v < first + count;
           v += chains) {
        chain.next(flown.data());
        float* column = &values(0, static_cast<Eigen::Index>(v - first));
        for (std::ptrdiff_t i = 0; i < points_; ++i) {
          column[i] = static_cast<float>(flown[i] / unit_);
        }
      }
    });
    next_ = first + count;
  }

  /// Reflections of all chains so far.
  [[nodiscard]] std::uint64_t bounces() const noexcept {
    std::uint64_t sum = 0;
    for (const detail::OrthantChain& chain : chains_) sum += chain.bounces();
    return sum;
  }

 private:
  std::ptrdiff_t points_;
  std::uint64_t burn_in_;
  double unit_ = 0;
  std::uint64_t next_ = 0;
  std::vector<detail::OrthantChain> chains_;
};

}  // namespace bpm
