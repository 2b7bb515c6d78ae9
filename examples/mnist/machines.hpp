// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/certificate.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "common/digest.hpp"
#include "common/interrupt.hpp"
#include "common/machine_info.hpp"
#include "common/pixels.hpp"
#include "experiment.hpp"
#include "fit_each_draw.hpp"
#include "pictures.hpp"

/// \file
/// The machines of one sampler. Each sampler's are instantiated in a file of their own: the
/// library's templates are most of what there is to compile.

namespace bpm_examples {

/// What the fit will take within `memory` bytes. Throws `bpm::BudgetTooSmall`.
template <class Sampler>
[[nodiscard]] bpm::MemoryForecast forecast_with(const Sampler& sampler,
                                                const Experiment& experiment,
                                                const DigitInputs& digits, std::size_t classes,
                                                const bpm::FitSettings& settings);

/// As `run_experiment`.
template <class Sampler>
void run_with(const Sampler& sampler, const Experiment& experiment, const DigitInputs& digits,
              const std::function<void(const bpm::Progress&)>& progress, MnistReport& report);

namespace machines_detail {

/// Calls use(kernel, train, test) with the inputs that there are. Bytes are the perceptron's:
/// chains work on matrices, and kernel values are not what takes their time.
template <class Sampler, class Use>
auto with_inputs(const Experiment& experiment, const DigitInputs& digits, Use&& use) {
  if constexpr (std::same_as<Sampler, bpm::PermutedPerceptron>) {
    if (digits.bytes) {
      return use(PixelKernel<bpm::RuntimeKernel>{experiment.kernel, experiment.unit},
                 digits.train_bytes, digits.test_bytes);
    }
  }
  return use(experiment.kernel, digits.train, digits.test);
}

template <class Kernel, class Sampler>
[[nodiscard]] bpm::OneVsRest<Kernel, Sampler> make_machine(const Kernel& kernel,
                                                           const Sampler& sampler,
                                                           const bpm::FitSettings& settings) {
  return bpm::OneVsRest(bpm::BayesPointMachine(kernel, sampler, settings));
}

template <class Sampler, class Fitted>
void report_training(const Fitted& fitted, Eigen::Index train_size, MnistReport& report) {
  const bpm::SamplerReport& training = fitted.report();
  report.draws = static_cast<std::int64_t>(training.draws);
  report.kernel_seconds = training.kernel_seconds;
  report.kernel_evaluations = training.kernel_evaluations;
  if (training.perceptron) {
    report.mistakes = training.perceptron->mistakes;
    report.passes_mean =
        static_cast<double>(training.perceptron->passes) /
        (static_cast<double>(training.draws) * static_cast<double>(fitted.columns()));
    report.mistakes_last_pass = training.perceptron->training_errors;
    report.training_errors = training.perceptron->training_errors;
  }
  report.compression_sizes = training.mistaken_points;
  // Gradient features and deformations were chosen on training digits (docs/images.md), from fewer
  // combinations than these.
  if (report.features == "gradient" || report.virtual_copies > 0) report.bound_choices = 1000;
  // What is chosen by the same digits would have to be paid for; of copies `report_copies` tells.
  if (!report.compression_sizes.empty() && !fitted.notes.boundary && report.virtual_copies == 0) {
    report.stable_compression_percent =
        100 * bpm::stable_compression_bound(report.compression_sizes[0],
                                            static_cast<std::size_t>(train_size),
                                            0.01 / static_cast<double>(report.bound_choices));
  }
  if (fitted.notes.boundary) {
    report.lambda_relative = fitted.notes.boundary->relative_lambda;
    report.lambda_chosen = true;
  }
  report.support_union = fitted.support().size();
  report.useful_evaluations = report.support_union * static_cast<std::uint64_t>(train_size);
  if (training.chains) {
    (std::same_as<Sampler, bpm::Billiard> ? report.bounces : report.steps) = training.chains->steps;
    report.standard_error = training.chains->standard_error;
    report.chain_angle = training.chains->chain_angle;
    report.rank = training.chains->rank;
  }
  report.strategy = bpm::to_string(fitted.forecast().strategy);
  report.model_digest = digest_of(fitted);
}

inline void report_test(const Eigen::MatrixXd& values, const std::vector<int>& predicted,
                        const std::vector<int>& labels, MnistReport& report) {
  report.test_error_percent = 100 * bpm::error_rate(labels, predicted);
  const std::vector<bool> correct = bpm::correct_predictions(labels, predicted);
  const std::vector<double> largest = bpm::largest_output_scores(values);
  const std::vector<double> gap = bpm::gap_scores(values);
  report.rejection = rejection_rows(largest, correct);
  report.rejection_gap = rejection_rows(gap, correct);
  constexpr std::size_t fine = 100;
  report.curve = rejection_rows(largest, correct, fine);
  report.curve_gap = rejection_rows(gap, correct, fine);
}

/// Training errors of all single draws by fresh kernel values: the points on the wrong side of each
/// draw of each class under the sampling kernel, K + diag(lambda).
template <class Kernel, class Fitted, class Inputs>
[[nodiscard]] std::uint64_t count_training_errors(const Kernel& kernel, const Fitted& fitted,
                                                  const bpm::SoftBoundary& boundary,
                                                  const Inputs& train,
                                                  const std::vector<int>& labels) {
  const Eigen::Index classes = fitted.columns();
  const Eigen::Index draws = std::ssize(fitted.parts().draw_numbers);
  Eigen::VectorXd self = bpm::kernel_diagonal_values(kernel, train);
  // What the soft boundary adds to an output: lambda_i alpha_i, for few points of a draw.
  const auto lambda_outputs = [&](Eigen::Index n, Eigen::Index c) {
    Eigen::VectorXd added = Eigen::VectorXd::Zero(train.rows());
    for (std::size_t s = 0; s < fitted.support().size(); ++s) {
      added[fitted.support()[s]] =
          fitted.parts().draw_coefficients(static_cast<Eigen::Index>(s), n * classes + c);
    }
    return added;
  };
  const auto lambda = boundary.resolve([&](std::ptrdiff_t i) { return self[i]; }, labels);
  constexpr Eigen::Index part = 10000;
  std::uint64_t errors = 0;
  for (Eigen::Index begin = 0; begin < train.rows(); begin += part) {
    const Eigen::Index count = std::min(part, train.rows() - begin);
    const Inputs some = train.middleRows(begin, count);
    const Eigen::MatrixXd outputs = fitted.draw_decision_values(some);
    for (Eigen::Index n = 0; n < draws; ++n) {
      for (Eigen::Index c = 0; c < classes; ++c) {
        const Eigen::VectorXd added = lambda.empty() ? Eigen::VectorXd() : lambda_outputs(n, c);
        for (Eigen::Index i = 0; i < count; ++i) {
          const auto point = static_cast<std::size_t>(begin + i);
          double output = outputs(i, n * classes + c) * std::sqrt(self[begin + i]);
          if (!lambda.empty()) output += lambda[point] * added[begin + i];
          const bool positive = labels[point] == fitted.classes()[classes == 1 ? 1 : c];
          errors += (positive ? output : -output) > 0 ? 0U : 1U;
        }
      }
    }
  }
  return errors;
}

/// Whose draws may have training sets of their own.
template <class Sampler, class Inputs>
inline constexpr bool takes_copies = std::same_as<Sampler, bpm::PermutedPerceptron> &&
                                     std::same_as<Inputs, bpm::RowMatrix<std::uint8_t>>;

/// What the mean of draws on virtual examples does on the originals and on copies that none of them
/// has seen; how many originals, by themselves or a copy, made each draw.
template <class Fitted, class Inputs>
void report_copies(const Fitted& fitted, const Experiment& experiment, const Inputs& train,
                   const DigitInputs& digits, MnistReport& report) {
  const Eigen::Index m = train.rows();
  const Eigen::MatrixXd values = fitted.decision_values(train);
  report.training_errors = 0;
  for (Eigen::Index c = 0; c < values.cols(); ++c) {
    const int positive = fitted.classes()[values.cols() == 1 ? 1 : static_cast<std::size_t>(c)];
    for (Eigen::Index i = 0; i < m; ++i) {
      const bool is = digits.train_labels[static_cast<std::size_t>(i)] == positive;
      report.training_errors += (is ? values(i, c) : -values(i, c)) > 0 ? 0U : 1U;
    }
  }
  if (experiment.image.copies_by == "elastic") {
    Inputs fresh(m, train.cols());
    const auto copy = static_cast<std::uint64_t>(experiment.image.copies) *
                          static_cast<std::uint64_t>(report.draws_wanted) +
                      1;
    VirtualDigits(experiment.image, digits.shape, digits.images, train, digits.train_labels,
                  experiment.settings.seed, report.threads)
        .fill(copy, copy + 1, fresh);
    report.fresh_copies_error_percent =
        100 * bpm::error_rate(digits.train_labels, fitted.predict(fresh));
  }
  report.compression_sizes.clear();
  const auto& draws = fitted.parts().draw_coefficients;
  for (Eigen::Index begin = 0; begin < draws.cols(); begin += fitted.columns()) {
    std::set<Eigen::Index> originals;
    for (Eigen::Index s = 0; s < draws.rows(); ++s) {
      if ((draws.row(s).segment(begin, fitted.columns()).array() != 0).any()) {
        originals.insert(fitted.support()[static_cast<std::size_t>(s)] % m);
      }
    }
    report.compression_sizes.push_back(originals.size());
  }
  report.stable_compression_percent.reset();
  if (!report.compression_sizes.empty()) {
    report.stable_compression_percent =
        100 * bpm::stable_compression_bound(report.compression_sizes[0],
                                            static_cast<std::size_t>(m),
                                            0.01 / static_cast<double>(report.bound_choices));
  }
}

/// A limit of the mean's error from the first draw's, by the test images without their labels.
template <class Fitted, class Inputs>
void report_certificate(const Fitted& fitted, const Inputs& test, Eigen::Index train_size,
                        MnistReport& report) {
  if (!report.stable_compression_percent || fitted.report().stopped) return;
  const double delta = 0.01 / static_cast<double>(report.bound_choices);
  bpm::Certificate found;
  if (report.virtual_copies == 0) {
    found = bpm::certificate(fitted, test, delta);
  } else {  // Each draw has a set of its own, made of the same originals, which are what counts.
    const Eigen::MatrixXd outputs = fitted.draw_decision_values(test);
    const std::vector<int> of_first =
        fitted.labels_of(Eigen::MatrixXd(outputs.leftCols(fitted.columns())));
    const std::vector<int> of_all = fitted.predict(test);
    std::size_t apart = 0;
    for (std::size_t i = 0; i < of_all.size(); ++i) apart += of_all[i] != of_first[i] ? 1U : 0U;
    found = bpm::Certificate::of_first_draw(report.compression_sizes[0],
                                            static_cast<std::size_t>(train_size), apart,
                                            of_all.size(), delta);
  }
  report.mean_bound_percent = 100 * found.error;
  report.first_draw_disagreements = found.disagreements;
}

/// The median time of one digit after the other, each from its image to its class.
template <class Fitted>
[[nodiscard]] double seconds_of_a_digit(const Fitted& fitted, const Experiment& experiment,
                                        const DigitInputs& digits) {
  ImageFeatures features(experiment.image, digits.shape);
  bpm::RowMatrix<std::uint8_t> input(1, digits.columns());
  std::vector<double> seconds;
  for (const auto& image : digits.test_images.rowwise()) {
    const WallTimer timer;
    features({image.data(), static_cast<std::size_t>(image.size())},
             {input.data(), static_cast<std::size_t>(input.size())});
    static_cast<void>(fitted.predict(input));
    seconds.push_back(timer.seconds());
  }
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

/// The digits to be drawn, with the images of the training examples that spoke.
template <class Fitted, class Inputs>
void report_pictures(const Fitted& fitted, const Experiment& experiment, const Inputs& test,
                     const Eigen::MatrixXd& values, const DigitInputs& digits,
                     MnistReport& report) {
  constexpr std::size_t wrong = 10;
  constexpr std::size_t unsure = 4;
  constexpr std::size_t voices = 3;
  const auto m = static_cast<bpm::PointIndex>(digits.images.rows());
  report.pictures = judged_digits(
      fitted, test, values, digits.test_labels,
      report.leading == RejectionScore::gap ? bpm::gap_scores(values)
                                            : bpm::largest_output_scores(values),
      [&](bpm::PointIndex number) {
        return digits.train_labels[static_cast<std::size_t>(number % m)];
      },
      wrong, unsure, voices);
  for (JudgedDigit& digit : report.pictures) {
    const auto row = digits.test_images.row(digit.number);
    digit.image.assign(row.begin(), row.end());
    for (std::vector<Voice>* some : {&digit.for_it, &digit.against_it}) {
      for (Voice& voice : *some) {
        voice.image = image_of(voice.number, experiment.image, digits.shape, digits.images,
                               experiment.settings.seed);
      }
    }
  }
}

template <class Kernel, class Sampler, class Inputs>
void run_machine(const Kernel& kernel, const Sampler& sampler, const Experiment& experiment,
                 const Inputs& train, const Inputs& test, const DigitInputs& digits,
                 const std::function<void(const bpm::Progress&)>& progress, MnistReport& report) {
  WallTimer timer;
  const auto machine = make_machine(kernel, sampler, experiment.settings);
  const auto fitted = [&] {
    const InterruptGuard guard;
    const auto watch = [&](const bpm::Progress& now) {
      progress(now);
      return !guard.interrupted();
    };
    if constexpr (takes_copies<Sampler, Inputs>) {
      if (experiment.image.copies > 0) {
        VirtualDigits sets(experiment.image, digits.shape, digits.images, train,
                           digits.train_labels, experiment.settings.seed, report.threads);
        sets.check_numbers(sampler.draws);
        auto made = fit_each_draw(
            machine, [&](std::uint64_t draw) { return sets.set_of(draw); }, watch);
        report.features_seconds += sets.seconds();
        report.points_seen = sets.size();
        return made;
      }
    }
    report.points_seen = train.rows();
    return machine.fit(train, digits.train_labels, watch);
  }();
  report.train_seconds += timer.seconds();
  report_training<Sampler>(fitted, train.rows(), report);
  if constexpr (takes_copies<Sampler, Inputs>) {
    if (experiment.image.copies > 0) report_copies(fitted, experiment, train, digits, report);
  }
  if (report.draws == report.draws_wanted) {
    progress({.stage = "draws",
              .fraction = 1,
              .draws = fitted.report().draws,
              .draws_total = fitted.report().draws});
  }

  progress({.stage = "test digits"});
  timer.restart();
  const Eigen::MatrixXd values = fitted.decision_values(test);
  report.predict_seconds += timer.seconds();
  progress({.stage = "test digits", .fraction = 1});
  report_test(fitted.shifted(values), fitted.labels_of(values), digits.test_labels, report);
  if constexpr (std::same_as<Inputs, bpm::RowMatrix<std::uint8_t>>) {
    report.digit_seconds = seconds_of_a_digit(fitted, experiment, digits);
  }
  if (experiment.pictures) report_pictures(fitted, experiment, test, values, digits, report);

  if (experiment.risk) {
    const Inputs& calibration = [&]() -> const Inputs& {
      if constexpr (std::same_as<Inputs, bpm::RowMatrix<float>>) {
        return digits.calibration;
      } else {
        return digits.calibration_bytes;
      }
    }();
    const Eigen::MatrixXd outputs = fitted.decision_values(calibration);
    const bpm::CertifiedRisk certified = bpm::certify_risk(
        bpm::gap_scores(fitted.shifted(outputs)),
        bpm::correct_predictions(digits.calibration_labels, fitted.labels_of(outputs)),
        *experiment.risk, experiment.delta);
    Guarantee& guarantee = report.guarantee.emplace();
    guarantee.risk_percent = 100 * *experiment.risk;
    guarantee.delta = experiment.delta;
    guarantee.calibration_coverage_percent = 100 * certified.coverage;
    if (certified.found) guarantee.threshold = certified.threshold;
    const std::vector<double> scores = bpm::gap_scores(fitted.shifted(values));
    const std::vector<bool> correct =
        bpm::correct_predictions(digits.test_labels, fitted.labels_of(values));
    std::size_t accepted = 0;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (!certified.rejector().accepts(scores[i])) continue;
      ++accepted;
      wrong += correct[i] ? 0 : 1;
    }
    guarantee.coverage_percent =
        100 * static_cast<double>(accepted) / static_cast<double>(scores.size());
    guarantee.error_percent =
        accepted == 0 ? 0 : 100 * static_cast<double>(wrong) / static_cast<double>(accepted);
  }

  if (experiment.settings.keep_draws) {
    progress({.stage = "single draws"});
    report.single_draw_error_percent = 100 * fitted.gibbs_error(test, digits.test_labels);
    report_certificate(fitted, test, train.rows(), report);
    progress({.stage = "single draws", .fraction = 1});
  }
  if (experiment.verify) {
    progress({.stage = "verifying"});
    const bpm::SoftBoundary& asked = experiment.settings.soft_boundary;
    report.training_errors = count_training_errors(
        kernel, fitted,
        fitted.notes.boundary ? asked.with_factor(fitted.notes.boundary->relative_lambda) : asked,
        train, digits.train_labels);
    report.verified = true;
    progress({.stage = "verifying", .fraction = 1});
  }
}

}  // namespace machines_detail

template <class Sampler>
bpm::MemoryForecast forecast_with(const Sampler& sampler, const Experiment& experiment,
                                  const DigitInputs& digits, std::size_t classes,
                                  const bpm::FitSettings& settings) {
  return machines_detail::with_inputs<Sampler>(
      experiment, digits, [&](const auto& kernel, const auto& train, const auto& /*test*/) {
        return machines_detail::make_machine(kernel, sampler, settings).forecast(train, classes);
      });
}

template <class Sampler>
void run_with(const Sampler& sampler, const Experiment& experiment, const DigitInputs& digits,
              const std::function<void(const bpm::Progress&)>& progress, MnistReport& report) {
  machines_detail::with_inputs<Sampler>(
      experiment, digits, [&](const auto& kernel, const auto& train, const auto& test) {
        machines_detail::run_machine(kernel, sampler, experiment, train, test, digits, progress,
                                     report);
      });
}

extern template bpm::MemoryForecast forecast_with(const bpm::PermutedPerceptron&, const Experiment&,
                                                  const DigitInputs&, std::size_t,
                                                  const bpm::FitSettings&);
extern template void run_with(const bpm::PermutedPerceptron&, const Experiment&, const DigitInputs&,
                              const std::function<void(const bpm::Progress&)>&, MnistReport&);
extern template bpm::MemoryForecast forecast_with(const bpm::Billiard&, const Experiment&,
                                                  const DigitInputs&, std::size_t,
                                                  const bpm::FitSettings&);
extern template void run_with(const bpm::Billiard&, const Experiment&, const DigitInputs&,
                              const std::function<void(const bpm::Progress&)>&, MnistReport&);
extern template bpm::MemoryForecast forecast_with(const bpm::KernelGibbs&, const Experiment&,
                                                  const DigitInputs&, std::size_t,
                                                  const bpm::FitSettings&);
extern template void run_with(const bpm::KernelGibbs&, const Experiment&, const DigitInputs&,
                              const std::function<void(const bpm::Progress&)>&, MnistReport&);

}  // namespace bpm_examples
