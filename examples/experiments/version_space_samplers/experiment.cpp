// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/data/source.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "bpm/version_space/version_space.hpp"
#include "common/machine_info.hpp"
#include "common/mnist_data.hpp"
#include "distribution.hpp"

namespace bpm_examples {

namespace {

using Gram = bpm::PrecomputedGram<double>;
using Space = bpm::KernelVersionSpace<double>;

struct Images {
  bpm::RowMatrix<double> pixels;  ///< Each / 255.
  std::vector<int> labels;        ///< 1: digit 2, -1: digit 1.
};

/// `count` random digits 1 and 2.
Images choose(const bpm::LabelledData<bpm::RowMatrix<std::uint8_t>>& digits, Eigen::Index count,
              const std::string& what, bpm::RandomEngine engine) {
  std::vector<Eigen::Index> order(digits.labels.size());
  bpm::random_permutation(std::span(order), engine);
  Images images;
  images.pixels.resize(count, digits.inputs.cols());
  for (const Eigen::Index row : order) {
    const int digit = digits.labels[static_cast<std::size_t>(row)];
    if ((digit != 1 && digit != 2) || std::ssize(images.labels) == count) {
      continue;
    }
    images.pixels.row(std::ssize(images.labels)) = digits.inputs.row(row).cast<double>() / 255;
    images.labels.push_back(digit == 2 ? 1 : -1);
  }
  if (std::ssize(images.labels) < count) {
    throw std::invalid_argument(what + " asks for " + std::to_string(count) +
                                " digits 1 and 2, there are " +
                                std::to_string(images.labels.size()));
  }
  return images;
}

/// Collects the test errors of draws.
class TestErrors {
 public:
  explicit TestErrors(const TwoDigits& digits)
      : digits_(digits),
        alpha_(Eigen::VectorXd::Zero(digits.train_kernel.rows())),
        sum_(Eigen::VectorXd::Zero(digits.train_kernel.rows())) {}

  void operator()(const bpm::Draw& draw) {
    alpha_.setZero();
    for (std::size_t s = 0; s < draw.support.size(); ++s) {
      alpha_[static_cast<Eigen::Index>(draw.support[s])] = draw.coefficients[s];
    }
    sum_ += alpha_;
    percent_.push_back(error_percent(alpha_));
  }

  [[nodiscard]] SampledErrors result() const {
    SampledErrors errors;
    errors.percent = percent_;
    errors.centre_percent = error_percent(sum_);
    return errors;
  }

 private:
  [[nodiscard]] double error_percent(const Eigen::VectorXd& alpha) const {
    const Eigen::VectorXd outputs = digits_.test_kernel * alpha;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < digits_.test_labels.size(); ++i) {
      wrong += digits_.test_labels[i] * outputs[static_cast<Eigen::Index>(i)] > 0 ? 0U : 1U;
    }
    return 100 * static_cast<double>(wrong) / static_cast<double>(digits_.test_labels.size());
  }

  const TwoDigits& digits_;
  Eigen::VectorXd alpha_;
  Eigen::VectorXd sum_;
  std::vector<double> percent_;
};

template <class Sampler>
SampledErrors draw_from(const Sampler& sampler, const char* stage, const TwoDigits& digits,
                        const SamplersOptions& options, const SamplersObserver& observer) {
  const WallTimer timer;
  const Gram gram(digits.train_kernel);
  const Space space(gram, digits.train_labels);
  bpm::RandomStreams streams{.seed = options.common.seed};
  TestErrors errors(digits);
  const bpm::RunControl control{.observer =
                                    [&](bpm::Progress now) {
                                      now.stage = stage;
                                      return observer(now);
                                    },
                                .threads = static_cast<unsigned>(options.common.threads)};
  const bpm::SamplerReport report =
      bpm::sample_version_space(sampler, space, streams, control, errors);
  if (report.stopped) {
    throw bpm::Stopped("stopped");
  }
  if (!report.converged) {
    throw bpm::NotSeparable(report.reason);
  }
  observer({.stage = stage, .fraction = 1, .draws = report.draws, .draws_total = report.draws});
  SampledErrors result = errors.result();
  if constexpr (requires { sampler.chains; }) result.chains = sampler.chains;
  if (report.chains) {
    result.rank = report.chains->rank;
    result.chain_check.add(report.chains->standard_error);
  }
  result.seconds = timer.seconds();
  return result;
}

}  // namespace

TwoDigits make_two_digits(const SamplersOptions& options) {
  // All of MNIST to choose from; of drawn digits, of which one in five is a 1 or 2, enough.
  const bool found = std::ranges::any_of(data_places(options.common.data), [](const auto& place) {
    return mnist_in(place).has_value();
  });
  const Digits digits =
      load_digits(options.common.data, found ? mnist_train_size : 10 * options.train + 200,
                  found ? mnist_test_size : 10 * options.test + 200, options.common.threads);
  const Images train =
      choose(digits.train, options.train, "--train", bpm::RandomEngine(options.common.seed, 0));
  const Images test =
      choose(digits.test, options.test, "--test", bpm::RandomEngine(options.common.seed, 1));
  TwoDigits result;
  result.source = digits.source;
  result.drawn = digits.drawn;
  const bpm::Polynomial kernel(5, 1, 1);  // (<x, x'> + 1)^5.
  const bpm::KernelMatrixSettings settings{.threads =
                                               static_cast<unsigned>(options.common.threads)};
  result.train_kernel = bpm::kernel_matrix(kernel, train.pixels, settings);
  result.test_kernel = bpm::kernel_matrix(kernel, test.pixels, train.pixels, settings);
  result.train_labels.assign(train.labels.begin(), train.labels.end());
  result.test_labels = test.labels;
  return result;
}

double SampledErrors::correlation() const { return autocorrelation(percent, chains); }

SamplersResult run_samplers(const TwoDigits& digits, const SamplersOptions& options,
                            const SamplersObserver& observer) {
  bpm::PermutedPerceptron perceptron;
  perceptron.draws = options.samples;
  bpm::KernelGibbs gibbs;
  gibbs.draws = options.samples;
  gibbs.steps_per_draw = options.steps_per_draw;
  bpm::Billiard billiard;
  billiard.draws = options.samples;
  billiard.bounces_per_draw = options.steps_per_draw;
  SamplersResult result;
  result.perceptron = draw_from(perceptron, "perceptron", digits, options, observer);
  result.gibbs = draw_from(gibbs, "kernel Gibbs", digits, options, observer);
  result.billiard = draw_from(billiard, "billiard", digits, options, observer);
  return result;
}

}  // namespace bpm_examples
