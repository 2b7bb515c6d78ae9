// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/votes.hpp"
#include "bpm/gaussian_process/orthant/orthant_planes.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Values of the isotropic posterior Q_iso ("Kernel interpolation as a Bayes point machine",
/// section 5): y_i times independent half normals of deviation det(K)^(1/(2n)).
class IsotropicValues {
 public:
  /// Voter v uses stream (seed, streams.next + v). The caller's streams do not advance, since the
  /// number of voters is not known: give another source other streams.
  /// \throws std::invalid_argument without points, on signs other than 1 and -1, or unless the
  ///         deviation is positive and finite.
  IsotropicValues(std::span<const signed char> signs, double deviation, RandomStreams streams)
      : signs_(detail::sign_vector(signs)), deviation_(deviation), streams_(streams) {
    const char* const f = "IsotropicValues";
    detail::check(!signs.empty(), f, "signs", "are empty, expected one per training point");
    detail::check_signs(f, signs, points(), "one per training point");
    detail::check_positive(f, "deviation", deviation);
  }

  /// Values with the posterior's own deviation, computed from a Cholesky factor of K. \throws
  /// std::invalid_argument also unless the factor is not empty and has one row per sign.
  IsotropicValues(const Eigen::LLT<Eigen::MatrixXd>& factor, std::span<const signed char> signs,
                  RandomStreams streams)
      : IsotropicValues(signs, deviation_of(factor, signs), streams) {}

  /// Number of training points n, one per sign.
  [[nodiscard]] Eigen::Index points() const noexcept { return signs_.size(); }
  /// The deviation of the half normals, in which `fill` measures values.
  [[nodiscard]] double unit() const noexcept { return deviation_; }

  /// Writes independent half normals with their signs. Cost: one normal number per value.
  void fill(std::uint64_t first, Eigen::Ref<Eigen::MatrixXf> values, unsigned /*threads*/) const {
    Eigen::VectorXd normals(points());
    for (Eigen::Index v = 0; v < values.cols(); ++v) {
      RandomEngine engine = streams_.stream(streams_.next + first + static_cast<std::uint64_t>(v));
      detail::Ziggurat::instance().fill(normals.data(), points(), engine);
      values.col(v) = signs_.cwiseProduct(normals.cwiseAbs()).cast<float>();
    }
  }

 private:
  static double deviation_of(const Eigen::LLT<Eigen::MatrixXd>& factor,
                             std::span<const signed char> signs) {
    detail::check(factor.rows() > 0, "IsotropicValues", "factor", "is empty");
    detail::check_size("IsotropicValues", "signs", signs.size(), factor.rows(),
                       "one per training point");
    // By logarithms: the determinant would leave the range of a double.
    return std::exp(factor.matrixLLT().diagonal().array().log().mean());
  }

  Eigen::VectorXd signs_;
  double deviation_;
  RandomStreams streams_;
};

/// Values of the exact posterior Q_GP = N(0, K | sign Upsilon = Y) ("Kernel interpolation as a
/// Bayes point machine", section 4.1), by chains. Voters of a chain follow each other and are
/// slightly dependent, which makes no bias.
///
/// Cost per voter: a trajectory of flights with reflections, about 0.15 ms at n = 1000 on kernel
/// matrices of digits. Memory: 2 n^2 doubles, and about 20 n a chain.
class OrthantValues {
 public:
  /// Settings of the chains: their number, burn-in and distance between voters.
  struct Settings {
    /// Independent chains; voter v is of chain v mod chains. More of them use more threads.
    std::size_t chains = 8;
    std::uint64_t burn_in = 50;  ///< Trajectories of each chain before its first voter.
    /// Mean length of a trajectory, in radians; one trajectory separates two voters of a chain.
    double path_length = std::numbers::pi / 2;
  };

  /// Chain c uses stream (seed, streams.next + c); the caller's streams do not advance. Cost: n^3 /
  /// 6 multiply-adds for the Cholesky factor. Memory: 2 n^2 doubles.
  /// \throws std::invalid_argument unless the covariance is square, not empty, finite, symmetric
  ///         and positive on its diagonal, the signs are 1 or -1, one per row, chains >= 1, and the
  ///         path length is positive and at most 100; NotPositiveDefinite where the covariance is
  ///         singular or indefinite.
  OrthantValues(const Eigen::MatrixXd& covariance, std::span<const signed char> signs,
                const RandomStreams& streams)
      : OrthantValues(covariance, signs, streams, Settings{}) {}
  /// Values by chains with the given settings; errors as for the default settings.
  OrthantValues(const Eigen::MatrixXd& covariance, std::span<const signed char> signs,
                const RandomStreams& streams, const Settings& settings)
      : signs_(detail::sign_vector(signs)), burn_in_(settings.burn_in) {
    const char* const f = "OrthantValues";
    detail::check_covariance(f, covariance);
    detail::check_signs(f, signs, covariance.rows(), "one per row of the covariance");
    planes_ = detail::dense_planes(f, covariance, signs_);
    unit_ = std::sqrt(covariance.diagonal().maxCoeff());
    detail::check_at_least(f, "chains", settings.chains, 1);
    detail::check_path_length(f, settings.path_length);
    for (std::size_t c = 0; c < settings.chains; ++c) {
      chains_.emplace_back(planes_, settings.path_length, streams.stream(streams.next + c))
          .half_normals(planes_);
    }
  }

  /// Number of training points n, one per sign.
  [[nodiscard]] Eigen::Index points() const noexcept { return signs_.size(); }
  /// The largest prior deviation of a value.
  [[nodiscard]] double unit() const noexcept { return unit_; }

  /// \throws std::invalid_argument unless voters are requested in order.
  void fill(std::uint64_t first, Eigen::Ref<Eigen::MatrixXf> values, unsigned threads) {
    detail::check(first == next_, "OrthantValues::fill", "first", "is ", first,
                  ", must be the voter that follows, ", next_);
    detail::check_size("OrthantValues::fill", "values", values.rows(), points(),
                       "rows: one per training point");
    const auto count = static_cast<std::uint64_t>(values.cols());
    const auto chains = static_cast<std::uint64_t>(chains_.size());
    detail::parallel_for(threads, std::ssize(chains_), [&](unsigned, std::ptrdiff_t c) {
      detail::OrthantBall& ball = chains_[std::size_t(c)];
      for (std::uint64_t k = 0; first == 0 && k < burn_in_; ++k) ball.fly(planes_);
      const auto own = static_cast<std::uint64_t>(c);
      // The first voter of this chain from `first` on.
      for (std::uint64_t v = first + (own + chains - first % chains) % chains; v < first + count;
           v += chains) {
        ball.fly(planes_);
        const auto d = Eigen::VectorXd::Map(ball.position(), points());
        values.col(static_cast<Eigen::Index>(v - first)) =
            (signs_.cwiseProduct(d) / unit_).cast<float>();
      }
    });
    next_ = first + count;
  }

 private:
  Eigen::VectorXd signs_;
  std::uint64_t burn_in_;
  double unit_ = 0;
  std::uint64_t next_ = 0;
  detail::OrthantPlanes planes_{0};
  std::vector<detail::OrthantBall> chains_;
};

namespace detail {

/// Adds Phi(z) to `sums`, element by element, with an error of at most 4e-7, and overwrites z.
/// Formula 7.1.26 of M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions": the votes need
/// 10^9 values, for which the library function takes ten times as long.
inline void add_normal_cdf(Eigen::Ref<Eigen::ArrayXf> z, Eigen::Ref<Eigen::ArrayXf> sums) {
  constexpr float root_half = 0.70710678118654752F;
  constexpr Eigen::Index chunk = 64;  // Stays in registers and the first-level cache.
  using Chunk = Eigen::Array<float, Eigen::Dynamic, 1, 0, chunk, 1>;
  for (Eigen::Index begin = 0; begin < z.size(); begin += chunk) {
    const Eigen::Index size = std::min(chunk, z.size() - begin);
    const Chunk x = z.segment(begin, size);
    // Beyond |x| = 13, exp(-x^2 / 2) leaves the range of normal floats.
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
  /// Takes a Cholesky factor of K (n x n), the kernel values between the t inputs and the training
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
    detail::ensure<BudgetTooSmall>(needed <= static_cast<double>(memory), f, ": ", cross.rows(),
                                   " inputs and ", n, " training points need ", needed,
                                   " bytes, memory is ", memory,
                                   "; raise memory or take fewer inputs at a time");
    weights_.resize(n, cross.rows());
    deviations_.resize(cross.rows());
    // The pieces do not depend on the number of threads, and all threads work on them.
    const Eigen::Index pieces = (cross.rows() + input_block - 1) / input_block;
    detail::parallel_for(threads_, pieces, [&](unsigned, std::ptrdiff_t piece) {
      const Eigen::Index begin = piece * input_block;
      const Eigen::Index count = std::min(input_block, cross.rows() - begin);
      auto part = weights_.middleCols(begin, count);
      part = cross.middleRows(begin, count).transpose();
      factor.matrixL().solveInPlace(part);
      for (Eigen::Index i = 0; i < count; ++i) {
        const double variance = self[begin + i] - part.col(i).squaredNorm();
        // At a training point rounding may make the variance negative.
        const double least = 1e-24 * std::abs(self[begin + i]);
        deviations_[begin + i] = std::sqrt(std::max({variance, least, 1e-300}));
      }
      factor.matrixU().solveInPlace(part);
    });
    narrow_.setZero(detail::padded<float>(n), cross.rows());
    narrow_.topRows(n) = weights_.cast<float>();
  }

  /// Number of training points n.
  [[nodiscard]] Eigen::Index points() const noexcept { return weights_.rows(); }
  /// Number of inputs t whose votes are computed.
  [[nodiscard]] Eigen::Index inputs() const noexcept { return weights_.cols(); }

  /// Returns K_xX K^{-1} Upsilon, t values: the interpolator of the given values. The interpolator
  /// of their mean is the posterior's Bayes point, since the outputs are linear in the values.
  /// \throws std::invalid_argument unless there is a finite value per training point.
  [[nodiscard]] Eigen::VectorXd mean(const Eigen::Ref<const Eigen::VectorXd>& values) const {
    detail::check_size("PosteriorEnsemble::mean", "values", values.size(), points(),
                       "one per training point");
    detail::check(values.allFinite(), "PosteriorEnsemble::mean", "values",
                  "hold a number that is not finite");
    return weights_.transpose() * values;
  }

  /// Standard deviations sqrt(K_xx - K_xX K^{-1} K_Xx) of the outputs, t values.
  [[nodiscard]] const Eigen::VectorXd& deviations() const noexcept { return deviations_; }

  /// Returns the votes of `voters` voters, which have the values that the source writes: with
  /// `source.fill(first, values, threads)` those of voters first, first + 1, ..., in multiples of
  /// `source.unit()`, so that floats hold them whatever the scale of the kernel, to the columns of
  /// an n x count matrix of float, n = `source.points()`. All voters are requested in order, each
  /// once, in blocks. Cost: t n multiply-adds per voter in float, as matrix
  /// products on all threads, and t evaluations of Phi. Memory beside the ensemble's own: 16 KiB
  /// per training point. The bits do not depend on the number of threads.
  /// \throws std::invalid_argument without voters, or if the source's points are not the
  ///         ensemble's. Stopped if the control stops it.
  template <class Source>
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
      const Progress now{.stage = "voters",
                         .fraction = static_cast<double>(first) / static_cast<double>(voters),
                         .draws = first,
                         .draws_total = voters};
      detail::ensure<Stopped>(control.go_on(now), f, ": stopped after ", first, " of ", voters,
                              " voters");
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

  /// Returns the exact votes Phi(margin mean(x) / deviation(x)) of the posterior given exact
  /// values, which an infinitely wide network interpolates at normalised margin gamma / sigma^L
  /// (section 4.2). As the margin grows, they become the votes of the interpolator alone.
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
      // Eigen's product would start its own threads under OpenMP and sum in other orders.
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
  Eigen::MatrixXf narrow_;   ///< K^{-1} K_Xx in float for the votes, columns padded with zeros.
  Eigen::VectorXd deviations_;
};

}}  // namespace bpm
