// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <limits>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/random/streams.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/chain_report.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// The centre-of-mass values E[Upsilon], Upsilon ~ N(0, S) given the signs, of "Kernel
/// Interpolation as a Bayes Point Machine", section 4.1, from the centre of mass of version space:
///
///     E[Upsilon_i] = E[chi_r] <E[w], x_i>,   r the rank of S.
///
/// A normal vector of the r-dimensional span has a uniform direction, that given the signs is w,
/// and a norm independent of it, with mean E[chi_r]. What the paper calls intractable is one run of
/// a sampler.
/// \throws std::invalid_argument unless there are outputs and rank is 1 or more.
[[nodiscard]] inline Eigen::VectorXd centre_values(const CentreOfMass& centre,
                                                   std::ptrdiff_t rank) {
  check(!centre.outputs.empty(), "centre_values", "centre",
        "has no outputs, expected that of a run with draws");
  check_at_least("centre_values", "rank", rank, 1);
  return mean_chi(rank) * Eigen::VectorXd::Map(centre.outputs.data(), std::ssize(centre.outputs));
}

}  // namespace detail

/// Centre-of-mass values as a sampler has found them, for `KernelInterpolator::train`.
struct CentreValues {
  /// Runs a sampler that sees a cone (`Billiard`, `KernelGibbs`) on a version space and takes its
  /// centre of mass. (Expectation propagation has them, too: `EpPosterior::centre_values`.) With a
  /// soft boundary they belong to S = K + diag(lambda). With label noise they are those of that
  /// posterior, and may have other signs than the labels have.
  /// \throws what the sampler throws, NotSeparable where it finds no classifier without training
  ///         error, Stopped where it was stopped before the first draw.
  template <ConeSampler Sampler, VersionSpace Space>
  CentreValues(const Space& space, const Sampler& sampler, RandomStreams& streams,
               const RunControl& control = {}) {
    typename Sampler::State state;
    report = sample_version_space(
        sampler, space, streams, control, [](const Draw&) {}, state);
    if (report.draws == 0) {
      if (report.stopped) {
        throw Stopped("CentreValues: stopped before the first draw");
      }
      throw NotSeparable(detail::join("CentreValues: ", report.reason));
    }
    const CentreOfMass centre = state.centre();
    rank = space.size();
    if (report.chains) {
      rank = report.chains->rank;
      standard_error = report.chains->standard_error;
    }
    values = detail::centre_values(centre, rank);
  }

  Eigen::VectorXd values;  ///< E[Upsilon], one per point.
  /// Estimated angle of the centre to the true one, rad: their relative error in the norm of
  /// the span. Infinity where the run cannot tell.
  double standard_error = std::numeric_limits<double>::infinity();
  std::ptrdiff_t rank = 0;  ///< Of S; of a sampler that reports no chains the number of points.
  SamplerReport report{};
};

}}  // namespace bpm
