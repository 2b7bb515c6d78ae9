// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/random/streams.hpp"
#include "bpm/gaussian_process/orthant/orthant_chain.hpp"

namespace bpm {

struct OrthantLabelsSettings {
  /// Independent chains; voter v is of chain v mod chains. More of them use more threads.
  std::size_t chains = 8;
  std::uint64_t burn_in = 50;    ///< Trajectories of each chain before its first voter.
  OrthantChainSettings chain{};  ///< A trajectory lies between two voters of a chain.
};

/// Labels of the exact posterior Q_GP = N(0, K | sign Upsilon = Y) ("Kernel interpolation as a
/// Bayes point machine", section 4.1), by chains. Voters of a chain follow each other and are
/// slightly dependent, which makes no bias.
///
/// Cost a voter: a trajectory of an `OrthantChain`, about 0.5 ms at n = 1000 on kernel matrices of
/// digits. Memory: that of the law, and about 100 n doubles a chain.
class OrthantLabels {
 public:
  /// Chain c uses stream (seed, streams.next + c); as for `IsotropicLabels`, the caller's streams
  /// do not move on.
  /// \throws std::invalid_argument unless chains >= 1, and as `OrthantChain`.
  OrthantLabels(const OrthantLaw& law, const RandomStreams& streams,
                const OrthantLabelsSettings& settings = {})
      : points_(law.points()), burn_in_(settings.burn_in), unit_(largest_deviation(law)) {
    detail::check(settings.chains >= 1, "OrthantLabels", "chains", "is 0, must be 1 or more");
    for (std::size_t c = 0; c < settings.chains; ++c) {
      chains_.emplace_back(law, settings.chain, streams.stream(streams.next + c));
    }
  }

  [[nodiscard]] Eigen::Index points() const noexcept { return points_; }
  /// The largest prior deviation of a label.
  [[nodiscard]] double unit() const noexcept { return unit_; }

  /// \throws std::invalid_argument unless voters are asked for in order.
  void fill(std::uint64_t first, Eigen::Ref<Eigen::MatrixXf> labels, unsigned threads) {
    detail::check(first == next_, "OrthantLabels::fill", "first", "is ", first,
                  ", must be the voter that follows, ", next_);
    detail::check_size("OrthantLabels::fill", "labels", labels.rows(), points_,
                       "rows: one per training point");
    const auto count = static_cast<std::uint64_t>(labels.cols());
    const auto chains = static_cast<std::uint64_t>(chains_.size());
    detail::parallel_for(threads, std::ssize(chains_), [&](unsigned, std::ptrdiff_t c) {
      OrthantChain& chain = chains_[c];
      if (first == 0) chain.skip(burn_in_);
      std::vector<double> values(static_cast<std::size_t>(points_));
      const auto own = static_cast<std::uint64_t>(c);
      // The first voter of this chain from `first` on.
      for (std::uint64_t v = first + (own + chains - first % chains) % chains; v < first + count;
           v += chains) {
        chain.next(values.data());
        float* column = &labels(0, static_cast<Eigen::Index>(v - first));
        for (std::ptrdiff_t i = 0; i < points_; ++i) {
          column[i] = static_cast<float>(values[i] / unit_);
        }
      }
    });
    next_ = first + count;
  }

  /// Reflections of all chains so far.
  [[nodiscard]] std::uint64_t bounces() const noexcept {
    std::uint64_t sum = 0;
    for (const OrthantChain& chain : chains_) sum += chain.bounces();
    return sum;
  }

 private:
  [[nodiscard]] static double largest_deviation(const OrthantLaw& law) {
    double largest = 0;
    for (std::ptrdiff_t i = 0; i < law.points(); ++i) {
      largest = std::max(largest, law.planes().variance(i));
    }
    return std::sqrt(largest);
  }

  std::ptrdiff_t points_;
  std::uint64_t burn_in_;
  double unit_;
  std::uint64_t next_ = 0;
  std::vector<OrthantChain> chains_;
};

}  // namespace bpm
