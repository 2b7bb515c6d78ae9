// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "bpm/core/check.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/core/vector_ops.hpp"
#include "bpm/decision/votes.hpp"
#include "bpm/gaussian_process/ensembles/value_sources.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET {

namespace detail {

/// Adds Phi(z) to `sums`, element by element, with an error of at most 4e-7. z is
/// consumed. By M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 7.1.26: a thousand
/// million of them are wanted, and the library function takes ten times as long.
inline void add_normal_cdf(Eigen::Ref<Eigen::ArrayXf> z, Eigen::Ref<Eigen::ArrayXf> sums) {
  constexpr float root_half = 0.70710678118654752F;
  constexpr Eigen::Index chunk = 64;  // Stays in registers and the first-level cache.
  using Chunk = Eigen::Array<float, Eigen::Dynamic, 1, 0, chunk, 1>;
  for (Eigen::Index begin = 0; begin < z.size(); begin += chunk) {
    const Eigen::Index size = std::min(chunk, z.size() - begin);
    const Chunk x = z.segment(begin, size);
    // exp(-x^2 / 2) has left the normal floats beyond 13.
    const Chunk a = (x.abs() * root_half).min(9.0F);
    const Chunk t = 1.0F / (1.0F + 0.3275911F * a);
    const Chunk series =
        t * (0.254829592F +
             t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
    const Chunk tail = 0.5F * series * (-a * a).exp();
    sums.segment(begin, size) += (x > 0.0F).select(1.0F - tail, tail);
  }
}

}  // namespace detail

/// A Gaussian process posterior as an ensemble of classifiers, seen at t given inputs ("Kernel
/// interpolation as a Bayes point machine", section 4.1). A voter is drawn in two steps:
///
///     values Upsilon of the n training points, from `IsotropicValues` or `OrthantValues`;
///     f(x) = K_xX K^{-1} Upsilon + xi,   xi ~ N(0, K_xx - K_xX K^{-1} K_Xx).
///
/// The noise xi of each input integrates out exactly, P(f(x) > 0 | Upsilon) = Phi(mean /
/// deviation), which leaves the errors as they are and takes the noise's part off their variance.
///
/// Memory: 12 t n bytes. Cost to make: t n^2 multiply-adds.
class PosteriorEnsemble {
 public:
  /// From a Cholesky factor of K (n x n), the kernel values between the t inputs and the training
  /// points (t x n), and k(x, x) of the inputs.
  /// \throws std::invalid_argument if sizes disagree, without points or inputs, on values that are
  ///         not finite, on a negative k(x, x), or if the factor has failed. BudgetTooSmall where
  ///         `memory` bytes are less than what is needed.
  PosteriorEnsemble(const Eigen::LLT<Eigen::MatrixXd>& factor,
                    const Eigen::Ref<const Eigen::MatrixXd>& cross,
                    const Eigen::Ref<const Eigen::VectorXd>& self, unsigned threads = 0,
                    std::size_t memory = detail::four_gibibytes)
      : threads_(detail::thread_count(threads, "PosteriorEnsemble")) {
    const char* const f = "PosteriorEnsemble";
    const Eigen::Index n = factor.rows();
    detail::check(factor.info() == Eigen::Success, f, "factor",
                  "is of a matrix that is not "
                  "positive definite");
    detail::check(n > 0, f, "factor", "is empty");
    detail::check(cross.rows() > 0, f, "cross", "has no row, expected one per input");
    detail::check_size(f, "cross", cross.cols(), n, "columns: one per training point");
    detail::check_size(f, "self", self.size(), cross.rows(), "one per input");
    detail::check(cross.allFinite(), f, "cross", "holds a number that is not finite");
    detail::check(self.allFinite(), f, "self", "holds a number that is not finite");
    detail::check(self.minCoeff() >= 0, f, "self", "holds ", self.minCoeff(),
                  ", k(x, x) must not be negative");
    const double needed = static_cast<double>(n) * static_cast<double>(cross.rows()) *
                              (sizeof(double) + sizeof(float)) +
                          static_cast<double>(n) * voter_block * sizeof(float);
    if (needed > static_cast<double>(memory)) {
      throw BudgetTooSmall(detail::join(f, ": ", cross.rows(), " inputs and ", n,
                                        " training points need ", needed, " bytes, memory is ",
                                        memory, "; raise memory or take fewer inputs at a time"));
    }
    weights_.resize(n, cross.rows());
    deviations_.resize(cross.rows());
    // In pieces, on all threads; a piece is the same whatever the number of threads.
    const Eigen::Index pieces = (cross.rows() + input_block - 1) / input_block;
    detail::parallel_for(threads_, pieces, [&](unsigned, std::ptrdiff_t piece) {
      const Eigen::Index begin = piece * input_block;
      const Eigen::Index count = std::min(input_block, cross.rows() - begin);
      auto part = weights_.middleCols(begin, count);
      part = cross.middleRows(begin, count).transpose();
      factor.matrixL().solveInPlace(part);
      for (Eigen::Index i = 0; i < count; ++i) {
        const double variance = self[begin + i] - part.col(i).squaredNorm();
        // At a training point rounding may leave less than nothing.
        const double least = 1e-24 * std::abs(self[begin + i]);
        deviations_[begin + i] = std::sqrt(std::max({variance, least, 1e-300}));
      }
      factor.matrixU().solveInPlace(part);
    });
    narrow_.setZero(detail::padded<float>(n), cross.rows());
    narrow_.topRows(n) = weights_.cast<float>();
  }

  /// n and t.
  [[nodiscard]] Eigen::Index points() const noexcept { return weights_.rows(); }
  [[nodiscard]] Eigen::Index inputs() const noexcept { return weights_.cols(); }

  /// K_xX K^{-1} Upsilon for the values given, t values: the interpolator of these values. The
  /// posterior's Bayes point is that of the mean values, since the outputs are linear in them.
  /// \throws std::invalid_argument unless there is a finite value per training point.
  [[nodiscard]] Eigen::VectorXd mean(const Eigen::Ref<const Eigen::VectorXd>& values) const {
    detail::check_size("PosteriorEnsemble::mean", "values", values.size(), points(),
                       "one per training point");
    detail::check(values.allFinite(), "PosteriorEnsemble::mean", "values",
                  "hold a number that is not finite");
    return weights_.transpose() * values;
  }

  /// sqrt(K_xx - K_xX K^{-1} K_Xx), t values.
  [[nodiscard]] const Eigen::VectorXd& deviations() const noexcept { return deviations_; }

  /// The votes of `voters` voters. Cost: t n multiply-adds per voter in float, as matrix products
  /// on all threads, and t evaluations of Phi; memory beside the ensemble's own: 16 KiB a training
  /// point. The same bits whatever the number of threads.
  /// \throws std::invalid_argument without voters, or if the source's points are not the
  ///         ensemble's. Stopped if the control stops it.
  template <detail::ValueSource Source>
  [[nodiscard]] Votes votes(Source&& source, std::uint64_t voters,
                            const RunControl& control = {}) const {
    const char* const f = "PosteriorEnsemble::votes";
    detail::check_at_least(f, "voters", voters, 1);
    detail::check_size(f, "source", source.points(), points(), "values: one per training point");
    Votes result{.positive = Eigen::VectorXd::Zero(inputs()), .voters = voters, .integrated = true};
    const Eigen::Index pieces = (inputs() + input_block - 1) / input_block;
    // Margins in deviations; a deviation of almost nothing is a sure vote.
    const Eigen::ArrayXf scale =
        (source.unit() / deviations_.array()).min(1e30).template cast<float>();
    Eigen::MatrixXf values;
    for (std::uint64_t first = 0; first < voters; first += voter_block) {
      if (!control.go_on({.stage = "voters",
                          .fraction = static_cast<double>(first) / static_cast<double>(voters),
                          .draws = first,
                          .draws_total = voters})) {
        throw Stopped(detail::join(f, ": stopped after ", first, " of ", voters, " voters"));
      }
      const auto count =
          static_cast<Eigen::Index>(std::min<std::uint64_t>(voter_block, voters - first));
      if (values.cols() != count) values.setZero(narrow_.rows(), count);  // The padding stays 0.
      source.fill(first, values.topRows(points()), threads_);
      detail::parallel_for(threads_, pieces, [&](unsigned, std::ptrdiff_t piece) {
        add_votes(values, scale, piece * input_block, result.positive);
      });
    }
    result.positive /= static_cast<double>(voters);
    return result;
  }

  /// The posterior given exact values, those that an infinitely wide network interpolates at
  /// normalised margin gamma / sigma^L (section 4.2): votes Phi(margin mean(x) / deviation(x)),
  /// exactly. As the margin grows, they become those of the interpolator alone.
  /// \throws std::invalid_argument unless there is a finite value per training point and the margin
  ///         is positive and finite.
  [[nodiscard]] Votes votes_at_margin(const Eigen::Ref<const Eigen::VectorXd>& values,
                                      double margin) const {
    detail::check_positive("PosteriorEnsemble::votes_at_margin", "margin", margin);
    Votes result{.positive = mean(values), .voters = 0, .integrated = true};
    for (Eigen::Index i = 0; i < inputs(); ++i) {
      result.positive[i] = detail::normal_cdf(margin * result.positive[i] / deviations_[i]);
    }
    return result;
  }

 private:
  static constexpr Eigen::Index input_block = 256;
  static constexpr std::uint64_t voter_block = 4096;

  /// Adds the votes of all columns of `values` at inputs from `begin` on.
  void add_votes(const Eigen::MatrixXf& values, const Eigen::ArrayXf& scale, Eigen::Index begin,
                 Eigen::VectorXd& sums) const {
    constexpr Eigen::Index together = 256;
    const Eigen::Index length = values.rows();
    const Eigen::Index count = std::min(input_block, inputs() - begin);
    const auto rows = detail::row_pointers(narrow_.col(begin).data(), count, length);
    Eigen::MatrixXf means(count, together);
    Eigen::ArrayXf part(count);
    for (Eigen::Index v = 0; v < values.cols(); v += together) {
      const Eigen::Index width = std::min(together, values.cols() - v);
      const auto voters = detail::row_pointers(values.col(v).data(), width, length);
      // Not Eigen's product, which under OpenMP starts threads of its own and sums in other orders.
      detail::row_products<detail::ProductTerm, float>(voters.data(), width, rows.data(), count,
                                                       length, means.data(), count);
      part.setZero();  // Short sums in float, long ones in double.
      for (Eigen::Index k = 0; k < width; ++k) {
        means.col(k).array() *= scale.segment(begin, count);
        detail::add_normal_cdf(means.col(k).array(), part);
      }
      sums.segment(begin, count) += part.cast<double>().matrix();
    }
  }

  unsigned threads_;
  Eigen::MatrixXd weights_;  ///< K^{-1} K_Xx, n x t.
  Eigen::MatrixXf narrow_;   ///< The same for the votes, columns padded with zeros.
  Eigen::VectorXd deviations_;
};

}}  // namespace bpm
