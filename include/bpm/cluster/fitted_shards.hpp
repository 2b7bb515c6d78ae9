// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/coefficients.hpp"
#include "bpm/machine/expansion.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm {

/// The Bayes points of a training set of which each rank held a part. Made by
/// `ShardedOneVsRest::fit`, the same on every rank; it communicates no more.
template <class Kernel, class Owned>
class FittedShards {
 public:
  /// `inputs`: those of the support points, in their order.
  FittedShards(const Kernel& kernel, std::vector<int> classes, std::vector<PointIndex> support,
               const Owned& inputs, detail::Coefficients coefficients, SamplerReport report,
               unsigned threads)
      : classes_(std::move(classes)),
        support_(std::move(support)),
        coefficients_(std::move(coefficients)),
        packed_(coefficients_),
        report_(std::move(report)),
        threads_(threads),
        expansion_(kernel, inputs, everyone(support_.size())) {}

  /// The distinct labels, ascending.
  [[nodiscard]] const std::vector<int>& classes() const noexcept { return classes_; }
  /// Training points with a coefficient, numbered over all ranks: those of rank 0 come first.
  [[nodiscard]] const std::vector<PointIndex>& support() const noexcept { return support_; }
  /// A row a support point, a column a class.
  [[nodiscard]] const detail::Coefficients& coefficients() const noexcept { return coefficients_; }
  [[nodiscard]] const Owned& support_inputs() const noexcept { return expansion_.inputs(); }
  /// Counts of all ranks together.
  [[nodiscard]] const SamplerReport& report() const noexcept { return report_; }

  /// As `FittedOneVsRest::decision_values`, bit for bit.
  template <InputSet I>
  [[nodiscard]] Eigen::MatrixXd decision_values(const I& inputs) const {
    return expansion_.outputs(inputs, packed_, detail::thread_count(threads_),
                              "FittedShards::decision_values");
  }

  /// The class of the largest of each row's values; the first among equals.
  template <InputSet I>
  [[nodiscard]] std::vector<int> predict(const I& inputs) const {
    const Eigen::MatrixXd values = decision_values(inputs);
    std::vector<int> labels;
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      Eigen::Index best = 0;
      for (Eigen::Index c = 1; c < values.cols(); ++c) {
        if (values(i, c) > values(i, best)) best = c;
      }
      labels.push_back(classes_[best]);
    }
    return labels;
  }

 private:
  [[nodiscard]] static std::vector<PointIndex> everyone(std::size_t count) {
    std::vector<PointIndex> all(count);
    std::iota(all.begin(), all.end(), PointIndex{0});
    return all;
  }

  std::vector<int> classes_;
  std::vector<PointIndex> support_;
  detail::Coefficients coefficients_;
  detail::PackedCoefficients packed_;  ///< The same, for outputs.
  SamplerReport report_;
  unsigned threads_;
  detail::Expansion<Kernel, Owned> expansion_;
};

}  // namespace bpm
