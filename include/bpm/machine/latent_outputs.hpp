// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/expansion.hpp"

namespace bpm::detail {

/// Moments of the latent outputs of n inputs, a column a problem.
struct LatentOutputs {
  Eigen::MatrixXd mean;      ///< Of the latent output, which has the sign of the decision value.
  Eigen::MatrixXd variance;  ///< Likewise.
};

/// Where each pivot stands in the ascending list of support points.
[[nodiscard]] inline std::vector<std::ptrdiff_t> places_of(const std::vector<PointIndex>& pivots,
                                                           const std::vector<PointIndex>& support) {
  std::vector<std::ptrdiff_t> places;
  places.reserve(pivots.size());
  for (const PointIndex point : pivots) {
    places.push_back(std::lower_bound(support.begin(), support.end(), point) - support.begin());
  }
  return places;
}

/// Mean and variance of the latent outputs under each problem's posterior. Column p of
/// `coefficients` are those of its centre of mass, E[w] over E[chi_r]: the sums are those of
/// `Expansion::outputs` to the bit, so that the signs of means and decision values agree.
/// `posterior(p)` must have its pivots in the support.
template <class Expansion, class Inputs, class Posterior>
[[nodiscard]] LatentOutputs latent_outputs(const Expansion& expansion, const Inputs& inputs,
                                           std::ptrdiff_t count,
                                           const PackedCoefficients& coefficients,
                                           Posterior&& posterior, unsigned threads,
                                           std::string_view function) {
  using Scalar = typename Expansion::Scalar;
  const Eigen::Index problems = coefficients.classifiers();
  LatentOutputs result{Eigen::MatrixXd(count, problems), Eigen::MatrixXd(count, problems)};
  std::vector<std::vector<std::ptrdiff_t>> places;
  std::vector<double> scales;
  for (Eigen::Index p = 0; p < problems; ++p) {
    places.push_back(places_of(posterior(p).pivots, expansion.support()));
    scales.push_back(mean_chi(posterior(p).rank()));
  }
  const auto width = static_cast<std::ptrdiff_t>(expansion.support().size());
  const auto visit = [&](unsigned, std::ptrdiff_t begin, std::ptrdiff_t rows, const Scalar* values,
                         const auto* diagonal) {
    RowMatrix<double> sums(rows, problems);
    std::fill_n(sums.data(), sums.size(), 0.0);
    Buffer<double> widened;
    coefficients.outputs(values, rows, width, sums.data(), widened);
    Eigen::VectorXd self(rows);
    for (std::ptrdiff_t r = 0; r < rows; ++r) self[r] = static_cast<double>(diagonal[r]);
    for (Eigen::Index p = 0; p < problems; ++p) {
      const std::vector<std::ptrdiff_t>& chosen = places[static_cast<std::size_t>(p)];
      Eigen::MatrixXd block(std::ssize(chosen), rows);
      for (std::ptrdiff_t r = 0; r < rows; ++r) {
        for (std::ptrdiff_t k = 0; k < block.rows(); ++k) {
          block(k, r) = static_cast<double>(values[r * width + chosen[k]]);
        }
      }
      const Eigen::VectorXd variance = posterior(p).latent_variance(block, self);
      for (std::ptrdiff_t r = 0; r < rows; ++r) {
        result.mean(begin + r, p) = scales[p] * sums(r, p);
        result.variance(begin + r, p) = variance[r];
      }
    }
  };
  expansion.visit_values(inputs, threads, function, visit);
  return result;
}

}  // namespace bpm::detail
