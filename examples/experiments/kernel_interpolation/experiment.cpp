// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "agreement_limit.hpp"
#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/bounds/vote_bound.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/decision/votes.hpp"
#include "bpm/gaussian_process/ensembles/posterior_ensemble.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/gaussian_process/interpolation/kernel_complexity.hpp"
#include "bpm/gaussian_process/orthant/orthant_probability.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/version_space/version_space.hpp"
#include "common/even_odd.hpp"
#include "common/machine_info.hpp"

namespace bpm_examples {

namespace {

/// Streams of a subset: what is random in it has a range of its own.
enum class Use : std::uint64_t { subset, isotropic, nested, billiard, exact, bounds };

bpm::RandomStreams streams_of(const InterpolationOptions& options, Eigen::Index n,
                              std::uint64_t subset, Use use) {
  const auto size = static_cast<std::uint64_t>(n);
  return {.seed = options.common.seed,
          .next = ((static_cast<std::uint64_t>(use) * 100'000 + subset) * 100'000 + size) << 28U};
}

/// A training subset and what the parts share.
struct Subset {
  SignedDigits train;
  Eigen::MatrixXd gram;
  Eigen::MatrixXd cross;  ///< Test x training.
  Eigen::VectorXd self;   ///< k(x, x) of the test images.
  std::vector<signed char> signs;
  Eigen::VectorXd labels;  ///< The signs as numbers.
};

Subset choose(const EvenOdd& digits, const InterpolationOptions& options, Eigen::Index n,
              std::uint64_t subset) {
  const bpm::RandomStreams streams = streams_of(options, n, subset, Use::subset);
  Subset chosen;
  chosen.train = random_subset(digits, n, streams.stream(streams.next));
  const SignedDigits& train = chosen.train;
  chosen.labels = train.labels();
  chosen.signs = train.signs;
  const bpm::ArcCosine kernel(options.depth);
  const bpm::KernelMatrixSettings settings{.threads =
                                               static_cast<unsigned>(options.common.threads)};
  chosen.gram = bpm::kernel_matrix(kernel, train.inputs, settings);
  chosen.cross = bpm::kernel_matrix(kernel, digits.test.inputs, train.inputs, settings);
  chosen.self = bpm::kernel_diagonal_values(kernel, digits.test.inputs);
  return chosen;
}

/// The rates of votes, beside the single classifier `centre`.
EnsembleRates rates_of(const bpm::Votes& votes, const Eigen::VectorXd& centre,
                       std::span<const signed char> labels) {
  EnsembleRates rates;
  rates.gibbs_error = votes.gibbs_error(labels);
  rates.bayes_error = votes.bayes_error(labels);
  rates.agreement = votes.agreement();
  rates.c_bound_empirical = bpm::CBound(rates.gibbs_error, rates.agreement).value();
  rates.bpm_bayes_disagreement = votes.disagreement(centre);
  return rates;
}

class Experiment {
 public:
  Experiment(const EvenOdd& digits, const InterpolationOptions& options, Eigen::Index n,
             std::uint64_t subset, const InterpolationObserver& observer)
      : digits_(digits),
        options_(options),
        control_{.observer = observer, .threads = static_cast<unsigned>(options.common.threads)},
        data_(choose(digits, options, n, subset)),
        factor_(data_.gram),
        ensemble_(factor_.llt(), data_.cross, data_.self, control_.threads) {
    result_.n = n;
    result_.subset = subset;
    result_.jitter = factor_.relative_jitter();
  }

  InterpolationResult run() {
    const double delta = 1 - options_.confidence;
    const bpm::KernelComplexity complexity(factor_.llt(), data_.signs);
    result_.complexity = complexity.value();
    const bpm::GibbsBound gibbs(result_.complexity, result_.n,
                                {.confidence = bpm::Confidence::exact(delta)});
    result_.gibbs_bound_a = gibbs.value();
    result_.bpm_bound_a = bpm::BayesPointBound(gibbs).value();
    result_.rademacher = bpm::RademacherBound(complexity.label_norm_squared, result_.n).value();

    const Eigen::VectorXd centroidal = ensemble_.mean(data_.labels);
    result_.centroidal_error = bpm::error_of_outputs(centroidal, digits_.test.signs);
    // Closed form: the error at i without i is alpha_i / (K^-1)_ii.
    const Eigen::VectorXd alpha = factor_.solve(data_.labels);
    const Eigen::VectorXd left_out = data_.labels - alpha.cwiseQuotient(factor_.inverse_diagonal());
    result_.leave_one_out_error = bpm::error_of_outputs(left_out, data_.signs);
    for (const double margin : margins()) {
      result_.gibbs_at_margin.push_back(
          ensemble_.votes_at_margin(data_.labels, margin).gibbs_error(digits_.test.signs));
    }
    isotropic(centroidal);
    if (options_.parts.ep) ep();
    if (options_.parts.billiard) billiard();
    // A singular kernel matrix (depth 1 and more digits than pixels) has no orthant to draw from.
    const bool regular = factor_.jitter() == 0;
    if (options_.parts.nested && regular) nested(delta);
    if (options_.parts.exact && regular) exact(delta);
    if (options_.study && result_.subset == 0) {
      begin("study");
      result_.study = run_study(digits_, data_.train, options_.depth, control_.threads);
    }
    if (options_.bounds && regular) {
      const bpm::RandomStreams order = streams(Use::subset);
      const Eigen::Index others = std::ssize(digits_.pool.labels) - result_.n;
      const SignedDigits unlabelled = random_subset(digits_, std::min(options_.unlabelled, others),
                                                    order.stream(order.next), result_.n);
      result_.bounds =
          bounds_of(digits_, data_.train, data_.gram, data_.cross, unlabelled, options_.depth,
                    options_.voters, delta, streams(Use::bounds), control_);
    }
    result_.seconds = timer_.seconds();
    return result_;
  }

 private:
  [[nodiscard]] bpm::RandomStreams streams(Use use) const {
    return streams_of(options_, result_.n, result_.subset, use);
  }

  void isotropic(const Eigen::VectorXd& centroidal) {
    const WallTimer timer;
    const bpm::IsotropicValues source(factor_.llt(), data_.signs, streams(Use::isotropic));
    const bpm::Votes votes = ensemble_.votes(source, options_.voters, control_);
    result_.isotropic = rates_of(votes, centroidal, digits_.test.signs);
    result_.isotropic_seconds = timer.seconds();
  }

  using Gram = bpm::PrecomputedGram<double>;

  [[nodiscard]] double error_of(const Eigen::VectorXd& labels) const {
    return bpm::error_of_outputs(ensemble_.mean(labels), digits_.test.signs);
  }

  /// Tells the observer which part begins.
  void begin(const char* stage) const {
    if (!control_.go_on({.stage = stage})) throw bpm::Stopped("stopped");
  }

  void ep() {
    begin("expectation propagation");
    const WallTimer timer;
    const bpm::EpPosterior posterior = bpm::expectation_propagation(space_);
    result_.log_inverse_ep = -posterior.log_evidence;
    const std::vector<double> labels = posterior.centre_values();
    ep_labels_ = Eigen::Map<const Eigen::VectorXd>(labels.data(), std::ssize(labels));
    result_.centre_error_ep = error_of(ep_labels_);
    result_.ep_seconds = timer.seconds();
  }

  void billiard() {
    begin("billiard");
    const WallTimer timer;
    bpm::RandomStreams streams = this->streams(Use::billiard);
    const bpm::CentreValues centre(space_, bpm::Billiard{.bounces = options_.bounces}, streams,
                                   control_);
    if (centre.report.stopped) throw bpm::Stopped("stopped");
    billiard_labels_ = centre.values;
    result_.billiard_standard_error = centre.standard_error;
    result_.centre_error_billiard = error_of(billiard_labels_);
    if (ep_labels_.size() > 0) {
      result_.label_distance = (ep_labels_ - billiard_labels_).norm() / billiard_labels_.norm();
    }
    result_.billiard_seconds = timer.seconds();
  }

  void nested(double delta) {
    begin("orthant probability");
    const WallTimer timer;
    bpm::RandomStreams streams = this->streams(Use::nested);
    const bpm::OrthantProbability found = bpm::orthant_probability(
        data_.gram, data_.signs, {.standard_error = 0.5}, streams, control_);
    if (found.stopped) throw bpm::Stopped("stopped");
    result_.log_inverse_nested = -found.log_probability;
    result_.log_inverse_nested_se = found.standard_error;
    const bpm::GibbsBound estimate(-found.log_probability, result_.n,
                                   {.confidence = bpm::Confidence::exact(delta)});
    result_.gibbs_bound_p = estimate.value();
    result_.bpm_bound_p = bpm::BayesPointBound(estimate).value();
    log_inverse_upper_ = [found](double share) { return found.upper_log_inverse(1 - share); };
    const bpm::Confidence shared = bpm::Confidence::shared(delta);
    const double upper = log_inverse_upper_(shared.estimate);
    const bpm::GibbsBound certified(upper, result_.n, {.confidence = shared});
    result_.gibbs_bound_certified = certified.value();
    result_.bpm_bound_certified = bpm::BayesPointBound(certified).value();
    result_.bpm_bound_realizable =
        bpm::BayesPointBound(upper, result_.n,
                             {.confidence = shared, .theorem = bpm::PacBayes::realizable})
            .value();
    result_.nested_seconds = timer.seconds();
  }

  void exact(double delta) {
    begin("exact posterior");
    const WallTimer timer;
    bpm::OrthantValues source(data_.gram, data_.signs, streams(Use::exact));
    const bpm::Votes votes = ensemble_.votes(source, options_.voters, control_);
    // The Bayes point of this posterior is the centre-of-mass interpolator.
    const Eigen::VectorXd& labels = billiard_labels_.size() > 0 ? billiard_labels_ : ep_labels_;
    const Eigen::VectorXd centre =
        labels.size() > 0 ? ensemble_.mean(labels) : ensemble_.mean(data_.labels);
    result_.exact = rates_of(votes, centre, digits_.test.signs);
    if (labels.size() == 0) result_.exact.bpm_bayes_disagreement = not_computed;
    if (log_inverse_upper_ && labels.size() > 0) {
      // The test inputs stand for inputs without labels. Voters of a chain are slightly dependent:
      // a tenth counts.
      const bpm::Confidence shared = bpm::Confidence::thirds(delta);
      const std::uint64_t independent = std::max<std::uint64_t>(2, votes.voters / 10);
      const double upper = log_inverse_upper_(shared.estimate);
      result_.exact.c_bound_certified =
          bpm::CBound::certified(
              bpm::GibbsBound(upper, result_.n, {.confidence = shared}),
              agreement_limit(result_.exact.agreement, static_cast<double>(votes.positive.size()),
                              static_cast<double>(independent), shared.inputs))
              .value();
      result_.bpm_bound_by_vote =
          bpm::VoteBound::certified(
              bpm::GibbsBound(upper, result_.n,
                              {.confidence = shared, .theorem = bpm::PacBayes::realizable}),
              votes, centre, independent)
              .value();
    }
    result_.exact_seconds = timer.seconds();
  }

  const WallTimer timer_;
  const EvenOdd& digits_;
  const InterpolationOptions& options_;
  bpm::RunControl control_;
  Subset data_;
  bpm::RowMatrix<double> values_{data_.gram};
  Gram gram_{values_};
  bpm::KernelVersionSpace<double> space_{gram_, data_.signs};
  bpm::JitteredCholesky factor_;
  bpm::PosteriorEnsemble ensemble_;
  Eigen::VectorXd ep_labels_;        ///< Empty: not computed.
  Eigen::VectorXd billiard_labels_;  ///< Empty: not computed.
  /// The limit of log(1 / P_Y) that is exceeded with the probability given. Empty: not computed.
  std::function<double(double)> log_inverse_upper_;
  InterpolationResult result_;
};

}  // namespace

const std::vector<double>& margins() {
  static const std::vector<double> values{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100};
  return values;
}

std::vector<InterpolationResult> run_interpolation(
    const EvenOdd& digits, const InterpolationOptions& options,
    const InterpolationObserver& observer,
    const std::function<void(const InterpolationResult&)>& done) {
  std::vector<InterpolationResult> results;
  const double all =
      static_cast<double>(options.sizes.size()) * static_cast<double>(options.subsets);
  for (const Eigen::Index n : options.sizes) {
    for (std::uint64_t subset = 0; subset < options.subsets; ++subset) {
      const auto finished = static_cast<double>(results.size());
      const auto told = [&](bpm::Progress now) {
        now.fraction = (finished + now.fraction) / all;
        return observer(now);
      };
      if (!told({.stage = "kernel matrix"})) {
        throw bpm::Stopped("stopped");
      }
      results.push_back(Experiment(digits, options, n, subset, told).run());
      done(results.back());
    }
  }
  return results;
}

}  // namespace bpm_examples
