// SPDX-License-Identifier: MIT
#include "bounds.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/bounds/vote_bound.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/normal.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/votes.hpp"
#include "bpm/gaussian_process/ensembles/posterior_ensemble.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/gaussian_process/orthant/orthant_probability.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/version_space/version_space.hpp"
#include "common/machine_info.hpp"

namespace bpm_examples {

namespace {

/// Expectation propagation on the first n digits.
bpm::EpPosterior posterior_of(const Eigen::MatrixXd& gram, const std::vector<signed char>& signs,
                              Eigen::Index n) {
  const bpm::RowMatrix<double> values = gram.topLeftCorner(n, n);
  const bpm::PrecomputedGram<double> first(values);
  return bpm::expectation_propagation(
      bpm::KernelVersionSpace<double>(first, {signs.begin(), signs.begin() + n}));
}

/// Mean and deviation of the outputs of inputs with these kernel values (input x training point).
struct Outputs {
  Eigen::VectorXd mean;
  Eigen::VectorXd deviation;
};

Outputs outputs_of(const bpm::EpPosterior& posterior, const Eigen::MatrixXd& values,
                   const Eigen::VectorXd& self) {
  Eigen::MatrixXd of_pivots(posterior.rank(), values.rows());
  for (Eigen::Index k = 0; k < posterior.rank(); ++k) {
    of_pivots.row(k) = values.col(posterior.pivots[static_cast<std::size_t>(k)]).transpose();
  }
  const bpm::EpPosterior::Prediction found = posterior.predict(of_pivots, self);
  return {found.mean, found.variance.cwiseSqrt()};
}

std::uint64_t count_differences(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return static_cast<std::uint64_t>(((a.array() > 0) != (b.array() > 0)).count());
}

}  // namespace

Bounds bounds_of(const EvenOdd& digits, const SignedDigits& train, const Eigen::MatrixXd& gram,
                 const Eigen::MatrixXd& test_values, const SignedDigits& unlabelled, int depth,
                 std::uint64_t voters, double delta, bpm::RandomStreams streams,
                 const bpm::RunControl& control) {
  const WallTimer timer;
  const auto begin = [&](const char* stage) {
    if (!control.go_on({.stage = stage})) throw bpm::Stopped("stopped");
  };
  const Eigen::Index n = gram.rows();
  const Eigen::Index half = n / 2;           // Makes the prior.
  const Eigen::Index rest = n - 3 * n / 10;  // Is not held out.
  Bounds result;
  result.delta = delta;
  result.unlabelled = unlabelled.inputs.rows();

  begin("bounds: posteriors");
  const bpm::ArcCosine kernel(depth);
  const Eigen::MatrixXd values =
      bpm::kernel_matrix(kernel, unlabelled.inputs, train.inputs, {.threads = control.threads});
  const Eigen::VectorXd self = bpm::kernel_diagonal_values(kernel, unlabelled.inputs);
  const bpm::EpPosterior all = posterior_of(gram, train.signs, n);
  const Outputs outputs = outputs_of(all, values, self);
  const Eigen::VectorXd coefficients =
      Eigen::VectorXd::Map(all.coefficients.data(), std::ssize(all.coefficients));
  result.error = bpm::error_of_outputs(test_values * coefficients, digits.test.signs);

  if (n - half >= 8) {  // As the theorem asks for.
    const bpm::EpPosterior prior = posterior_of(gram, train.signs, half);
    Bound& bound = result.split_certified;
    bound.prior_points = half;
    bound.complexity = bpm::relative_entropy(all, prior, gram);
    bound.rate = 0;
    for (Eigen::Index i = half; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      bound.rate += bpm::detail::normal_cdf(-all.outputs[k] / std::sqrt(all.variances[k])) /
                    static_cast<double>(n - half);
    }
    const bpm::GibbsBound gibbs(bound.complexity, n - half,
                                {.confidence = {delta / 2, 0, delta / 2},
                                 .theorem = bpm::PacBayes::maurer,
                                 .empirical_error = bound.rate});
    // The posterior is Gaussian: its vote is the sign of the mean, by the share 2 Phi - 1.
    Eigen::VectorXd margins(outputs.mean.size());
    for (Eigen::Index i = 0; i < margins.size(); ++i) {
      const double z = std::abs(outputs.mean[i]) / outputs.deviation[i];
      margins[i] = std::max(0.0, 2 * bpm::detail::normal_cdf(z) - 1);
    }
    const bpm::VoteMarginBound found = bpm::VoteMarginBound::certified(gibbs, margins, 0);
    bound.gibbs = gibbs.value();
    bound.threshold = found.threshold;
    bound.value = found.value();
  }
  {
    const bpm::EpPosterior some = posterior_of(gram, train.signs, rest);
    const Eigen::VectorXd of_some =
        Eigen::VectorXd::Map(some.coefficients.data(), std::ssize(some.coefficients));
    Bound& bound = result.held_out;
    bound.prior_points = rest;
    const Eigen::VectorXd held = gram.bottomRows(n - rest).leftCols(rest) * of_some;
    std::uint64_t errors = 0;
    for (Eigen::Index i = rest; i < n; ++i) {
      errors += train.signs[static_cast<std::size_t>(i)] * held[i - rest] > 0 ? 0U : 1U;
    }
    const auto count = static_cast<std::uint64_t>(n - rest);
    bound.rate = static_cast<double>(errors) / static_cast<double>(count);
    bound.value = bpm::binomial_upper_limit(errors, count, delta);
    Bound& by = result.held_out_disagreement;
    by = bound;
    const std::uint64_t apart = count_differences(values.leftCols(rest) * of_some, outputs.mean);
    const auto inputs = static_cast<std::uint64_t>(outputs.mean.size());
    by.disagreement = static_cast<double>(apart) / static_cast<double>(inputs);
    by.value = std::min(1.0, bpm::binomial_upper_limit(errors, count, delta / 2) +
                                 bpm::binomial_upper_limit(apart, inputs, delta / 2));
  }

  begin("bounds: probabilities");
  const bpm::PosteriorEnsemble ensemble(gram.llt(), values, self, control.threads);
  bpm::OrthantValues source(gram, train.signs, streams);
  streams.next += 1U << 20U;
  const bpm::Votes votes = ensemble.votes(source, voters, control);
  const Eigen::VectorXd margins =
      (outputs.mean.array() > 0)
          .select(2 * votes.positive.array() - 1, 1 - 2 * votes.positive.array());
  // Voters of a chain are slightly dependent: a tenth counts.
  const std::uint64_t independent = std::max<std::uint64_t>(2, voters / 10);
  const bpm::Confidence shared = bpm::Confidence::thirds(delta);
  for (Bound* bound : {&result.margin, &result.split}) {
    const bool is_split = bound == &result.split;
    bound->prior_points = is_split ? half : 0;
    const bpm::OrthantProbability found = bpm::orthant_probability(
        gram, train.signs, {.standard_error = 0.5, .given = bound->prior_points}, streams, control);
    if (found.stopped) throw bpm::Stopped("stopped");
    bound->complexity = found.upper_log_inverse(1 - shared.estimate);
    const bpm::GibbsBound gibbs(bound->complexity, n - bound->prior_points,
                                {.confidence = shared, .theorem = bpm::PacBayes::realizable});
    const bpm::VoteMarginBound by_margins =
        bpm::VoteMarginBound::certified(gibbs, margins, independent);
    bound->gibbs = gibbs.value();
    bound->threshold = by_margins.threshold;
    bound->value = by_margins.value();
  }
  result.seconds = timer.seconds();
  return result;
}

}  // namespace bpm_examples
