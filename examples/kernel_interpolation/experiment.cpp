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

#include "bpm/bounds/bpm_bound.hpp"
#include "bpm/bounds/c_bound.hpp"
#include "bpm/bounds/complexity.hpp"
#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/bounds/rademacher_bound.hpp"
#include "bpm/ensembles/label_sources.hpp"
#include "bpm/ensembles/posterior_ensemble.hpp"
#include "bpm/ensembles/vote_statistics.hpp"
#include "bpm/errors.hpp"
#include "bpm/gram/kernel_matrix.hpp"
#include "bpm/interpolation/jittered_cholesky.hpp"
#include "bpm/kernels/arc_cosine.hpp"
#include "bpm/random/draws.hpp"
#include "bpm/random/streams.hpp"
#include "common/machine_info.hpp"
#include "common/mnist_data.hpp"

namespace bpm_examples {

namespace {

/// Streams of a subset: what is random in it has a range of its own.
enum class Use : std::uint64_t { subset, isotropic, nested, billiard, exact };

bpm::RandomStreams streams_of(const InterpolationOptions& options, Eigen::Index n,
                              std::uint64_t subset, Use use) {
  const auto size = static_cast<std::uint64_t>(n);
  return {.seed = options.common.seed,
          .next = ((static_cast<std::uint64_t>(use) * 100'000 + subset) * 100'000 + size) << 28U};
}

bpm::RowMatrix<double> standardised(const bpm::ByteImages& images) {
  return ((images.cast<double>().array() / 255 - 0.1307) / 0.3081).matrix();
}

std::vector<signed char> even_odd(const std::vector<int>& digits) {
  std::vector<signed char> labels;
  for (const int digit : digits) {
    labels.push_back(static_cast<signed char>(digit % 2 == 0 ? 1 : -1));
  }
  return labels;
}

/// A training subset and what the parts share.
struct Subset {
  Eigen::MatrixXd gram;
  Eigen::MatrixXd cross;  ///< Test x training.
  Eigen::VectorXd self;   ///< k(x, x) of the test images.
  std::vector<signed char> signs;
  Eigen::VectorXd labels;  ///< The signs as numbers.
};

Subset choose(const EvenOdd& digits, const InterpolationOptions& options, Eigen::Index n,
              std::uint64_t subset) {
  std::vector<Eigen::Index> order(digits.train_labels.size());
  bpm::RandomStreams streams = streams_of(options, n, subset, Use::subset);
  bpm::RandomEngine engine = streams.stream(streams.next);
  bpm::random_permutation(std::span(order), engine);
  bpm::RowMatrix<double> inputs(n, digits.train.cols());
  Subset chosen;
  chosen.labels.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
    inputs.row(i) = digits.train.row(static_cast<Eigen::Index>(row));
    chosen.signs.push_back(digits.train_labels[row]);
    chosen.labels[i] = digits.train_labels[row];
  }
  const bpm::ArcCosine kernel(options.depth);
  const bpm::KernelMatrixSettings settings{.threads =
                                               static_cast<unsigned>(options.common.threads)};
  chosen.gram = bpm::kernel_matrix(kernel, inputs, settings);
  chosen.cross = bpm::kernel_matrix(kernel, digits.test, inputs, settings);
  chosen.self = bpm::kernel_diagonal_values(kernel, digits.test);
  return chosen;
}

/// The rates of votes, beside the single classifier `centre`.
EnsembleRates rates_of(const bpm::Votes& votes, const Eigen::VectorXd& centre,
                       std::span<const signed char> labels) {
  EnsembleRates rates;
  rates.gibbs_error = bpm::gibbs_error(votes, labels);
  rates.bayes_error = bpm::bayes_error(votes, labels);
  rates.agreement = bpm::gibbs_agreement(votes);
  rates.c_bound_empirical = bpm::c_bound(rates.gibbs_error, rates.agreement).value();
  rates.bpm_bayes_disagreement = bpm::bpm_bayes_disagreement(votes, centre);
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
    const bpm::KernelComplexity complexity = bpm::kernel_complexity(factor_.llt(), data_.signs);
    result_.complexity = complexity.value();
    const bpm::GibbsBound gibbs = bpm::gibbs_bound(result_.complexity, result_.n,
                                                   {.confidence = bpm::exact_confidence(delta)});
    result_.gibbs_bound_a = gibbs.value();
    result_.bpm_bound_a = bpm::bpm_bound(gibbs).value();
    result_.rademacher = bpm::rademacher_bound(complexity.label_norm_squared, result_.n).value();

    const Eigen::VectorXd centroidal = ensemble_.mean(data_.labels);
    result_.centroidal_error = bpm::error_of_outputs(centroidal, digits_.test_labels);
    for (const double margin : margins()) {
      result_.gibbs_at_margin.push_back(
          bpm::gibbs_error(ensemble_.votes_at_margin(data_.labels, margin), digits_.test_labels));
    }
    isotropic(centroidal);
    result_.seconds = timer_.seconds();
    return result_;
  }

 private:
  [[nodiscard]] bpm::RandomStreams streams(Use use) const {
    return streams_of(options_, result_.n, result_.subset, use);
  }

  void isotropic(const Eigen::VectorXd& centroidal) {
    const WallTimer timer;
    const bpm::IsotropicLabels source(data_.signs,
                                      std::exp(bpm::log_isotropic_deviation(factor_.llt())),
                                      streams(Use::isotropic));
    const bpm::Votes votes = ensemble_.votes(source, options_.voters, control_);
    result_.isotropic = rates_of(votes, centroidal, digits_.test_labels);
    result_.isotropic_seconds = timer.seconds();
  }

  const WallTimer timer_;
  const EvenOdd& digits_;
  const InterpolationOptions& options_;
  bpm::RunControl control_;
  Subset data_;
  bpm::JitteredCholesky factor_;
  bpm::PosteriorEnsemble ensemble_;
  InterpolationResult result_;
};

}  // namespace

EvenOdd load_even_odd(const InterpolationOptions& options) {
  const bool found = std::ranges::any_of(data_places(options.common.data), [](const auto& place) {
    return mnist_in(place).has_value();
  });
  const Eigen::Index largest = *std::ranges::max_element(options.sizes);
  const Digits digits = load_digits(options.common.data, found ? mnist_train_size : 4 * largest,
                                    options.test, options.common.threads);
  return {.source = digits.source,
          .drawn = digits.drawn,
          .train = standardised(digits.train.inputs),
          .train_labels = even_odd(digits.train.labels),
          .test = standardised(digits.test.inputs),
          .test_labels = even_odd(digits.test.labels)};
}

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
