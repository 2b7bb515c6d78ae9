// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/decision/class_probabilities.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/selection/choose.hpp"
#include "libsvm.hpp"

namespace any_data {

namespace {

using Machine = bpm::OneVsRest<bpm::Gaussian>;

template <class Kernel>
[[nodiscard]] bpm::OneVsRest<Kernel> make_machine(const Kernel& kernel, std::uint64_t draws,
                                                  const bpm::FitSettings& settings) {
  return bpm::OneVsRest<Kernel>(
      bpm::BayesPointMachine(kernel, bpm::PermutedPerceptron{.draws = draws}, settings));
}

/// Seconds that a call takes.
template <class Call>
double seconds(Call&& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Probabilities from the draws that vote for a class, n_c + 1 over N + C, so that none is 0.
[[nodiscard]] Eigen::MatrixXd smoothed_votes(const Eigen::MatrixXd& fractions, double draws,
                                             std::size_t classes) {
  return ((fractions * draws).array() + 1).matrix() / (draws + static_cast<double>(classes));
}

[[nodiscard]] double calibration_error(const Eigen::MatrixXd& probabilities,
                                       const std::vector<int>& labels,
                                       const std::vector<int>& classes) {
  return bpm::calibration_error(bpm::reliability_diagram(probabilities, labels, classes));
}

/// Log loss of the training part's shares.
[[nodiscard]] double loss_of_shares(const Parts& parts) {
  std::map<int, double> share;
  for (const int label : parts.train_labels) share[label] += 1;
  double loss = 0;
  for (const int label : parts.test_labels) {
    loss -= std::log(share[label] / static_cast<double>(parts.train_labels.size()));
  }
  return loss / static_cast<double>(parts.test_labels.size());
}

}  // namespace

Mean mean_of(const std::vector<double>& values) {
  Mean result;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.value += value / n;
  for (const double value : values) {
    result.se += (value - result.value) * (value - result.value);
  }
  result.se = n > 1 ? std::sqrt(result.se / (n * (n - 1))) : 0;
  return result;
}

std::optional<double> SetResult::grid_best() const {
  std::optional<double> best;
  for (const std::vector<double>& errors : of_lambda) {
    if (errors.empty() || errors.size() != chosen.size()) continue;
    const double error = mean_of(errors).value;
    if (!best || error < *best) best = error;
  }
  return best;
}

void run_set(const DataSet& set, const Options& options, const Watch& watch, SetResult& result) {
  result.features = static_cast<std::size_t>(set.inputs.cols());
  const auto& grid = bpm::detail::default_relative_lambdas;
  result.of_lambda.resize(grid.size());
  bpm::FitSettings settings{.seed = options.common.seed,
                            .threads = static_cast<unsigned>(options.common.threads)};
  for (std::uint64_t s = 0; s < options.splits; ++s) {
    if (!watch({.stage = set.name,
                .fraction = static_cast<double>(s) / static_cast<double>(options.splits)})) {
      throw bpm::Stopped("stopped");
    }
    const Parts parts = split(set, options.common.seed, options.first_split + s);
    result.train_size = parts.train_labels.size();
    result.test_size = parts.test_labels.size();
    const auto error = [&](const auto& fitted) {
      return bpm::error_rate(parts.test_labels, fitted.predict(parts.test));
    };

    // The first fit: the kernel by the median distance, nothing else said.
    const double median = bpm::median_distance(parts.train);
    const bpm::Gaussian kernel = bpm::Gaussian::from_width(median);
    try {
      std::optional<bpm::Classifier<bpm::Gaussian, Inputs>> first;
      result.first_seconds.push_back(seconds([&] {
        first = make_machine(kernel, set.draws, settings).fit(parts.train, parts.train_labels);
      }));
      result.classes = first->classes().size();
      result.first.push_back(error(*first));
      result.first_lambda.push_back(first->notes.boundary->relative_lambda);
    } catch (const bpm::NotSeparable&) {
      ++result.refused;
    }
    // What any lambda of the grid would have given.
    for (std::size_t l = 0; l < grid.size() && result.classes < 50; ++l) {
      bpm::FitSettings fixed = settings;
      fixed.soft_boundary = bpm::SoftBoundary::relative(grid[l]);
      try {
        result.of_lambda[l].push_back(
            error(make_machine(kernel, set.draws, fixed).fit(parts.train, parts.train_labels)));
      } catch (const bpm::NotSeparable&) {
      }
    }
    bpm::FitSettings hard = settings;
    hard.soft_boundary = bpm::SoftBoundary::hard();
    hard.bias = 0;
    if (set.hard) {
      result.hard_seconds.push_back(seconds([&] {
        try {
          result.hard.push_back(
              error(make_machine(kernel, set.draws, hard).fit(parts.train, parts.train_labels)));
        } catch (const bpm::NotSeparable&) {
        }
      }));
    }
    if (set.linear_hard) {
      bool refused = false;
      result.linear_hard_seconds.push_back(seconds([&] {
        try {
          (void)make_machine(bpm::Linear(), set.draws, hard).fit(parts.train, parts.train_labels);
        } catch (const bpm::NotSeparable&) {
          refused = true;
        }
      }));
      result.linear_hard_refused = result.linear_hard_refused && refused;
    }

    // Width and lambda chosen, then the probabilities of the fit.
    settings.keep_draws = true;
    std::optional<bpm::Choice<Machine>> choice;
    result.choose_seconds.push_back(seconds([&] {
      choice =
          bpm::choose(make_machine(kernel, set.draws, settings), parts.train, parts.train_labels);
    }));
    std::optional<bpm::Classifier<bpm::Gaussian, Inputs>> chosen;
    result.chosen_fit_seconds.push_back(
        seconds([&] { chosen = choice->fit(parts.train, parts.train_labels); }));
    settings.keep_draws = false;
    result.chosen.push_back(error(*chosen));
    const Eigen::MatrixXd outputs = chosen->decision_values(parts.test);
    const std::vector<int>& classes = chosen->classes();
    const Eigen::MatrixXd calibrated = chosen->predict_probability(parts.test);
    result.loss_calibrated.push_back(bpm::log_loss(calibrated, parts.test_labels, classes));
    result.calibration_error.push_back(calibration_error(calibrated, parts.test_labels, classes));
    result.slope_ratio.push_back(bpm::fit_slope(outputs, parts.test_labels, classes).slope /
                                 chosen->parts().slope);
    result.loss_votes.push_back(
        bpm::log_loss(smoothed_votes(chosen->vote_fractions(parts.test),
                                     static_cast<double>(set.draws), classes.size()),
                      parts.test_labels, classes));
    result.loss_largest_class.push_back(loss_of_shares(parts));

    // The support vector machine, on the same widths. One against one of 300 classes is left out.
    if (classes.size() < 50) {
      const SvmProblem train(parts.train, parts.train_labels);
      const SvmProblem test(parts.test, parts.test_labels);
      const std::vector<double> widths{median / 4, median / 2, median, 2 * median};
      SvmChoice of_svm;
      result.libsvm_seconds.push_back(seconds([&] {
        of_svm = choose_svm(parts.train, parts.train_labels, widths, options.common.seed);
      }));
      svm_parameter plain = svm_parameters(of_svm.width, of_svm.cost);
      result.libsvm_fit_seconds.push_back(seconds([&] {
        svm_model* model = svm_train(&train.get(), &plain);
        svm_free_and_destroy_model(&model);
      }));
      const SvmResult found = run_svm(train, test, parts.test_labels, classes, of_svm,
                                      options.common.seed + options.first_split + s);
      result.libsvm.push_back(found.error);
      result.loss_libsvm.push_back(bpm::log_loss(found.probabilities, parts.test_labels, classes));
      result.libsvm_calibration_error.push_back(
          calibration_error(found.probabilities, parts.test_labels, classes));
    }
  }
}

}  // namespace any_data
