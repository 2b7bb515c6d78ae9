// SPDX-License-Identifier: MIT
// Makes what the page to draw on reads: the machine, the thresholds of its guaranteed risks, and
// test digits with the classes that they were given here, for the page's own test.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bpm/decision/class_probabilities.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/images/gradient_features.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "common/json_file.hpp"
#include "common/mnist_data.hpp"
#include "common/options.hpp"
#include "common/output_file.hpp"
#include "common/program.hpp"
#include "digits.hpp"

namespace {

using namespace bpm_examples;

// Of the 60 000 training digits the first train the machine; the others never do.
constexpr Eigen::Index first_for_slope = 40'000;
// The first 50 000 have chosen the features, the degree and the score.
constexpr Eigen::Index first_for_risk = 50'000;
// All thresholds hold at once with probability 1 - delta: the page lets one choose among them.
constexpr std::array<double, 7> risks{0.001, 0.0012, 0.0015, 0.002, 0.003, 0.006, 0.01};
constexpr double delta = 0.01;

struct PageOptions {
  CommonOptions common;
  std::filesystem::path folder;
  Eigen::Index train = first_for_slope;
  std::uint64_t draws = 3;
};

PageOptions parse_page_options(int argc, const char* const* argv) {
  PageOptions options;
  CLI::App app{
      "Makes what the page to draw digits on reads, in a folder: digits.model, facts.json (with "
      "the "
      "thresholds of guaranteed risks) and test.digits (for self_test.html). Needs MNIST."};
  app.add_option("folder", options.folder, "Where to write them")->required();
  add_whole_option(app, "--train", options.train,
                   "Train on the first N of MNIST's training digits (default: 40000)", 100,
                   first_for_slope);
  add_whole_option(app, "--draws", options.draws, "Perceptrons (default: 3)", 1, 1000);
  add_common_options(app, options.common,
                     {"page_model site/page", "page_model site/page --train 5000"});
  parse_options(app, argc, argv);
  return options;
}

std::string_view text_of(const std::vector<char>& bytes) { return {bytes.data(), bytes.size()}; }

template <class Rows>
std::vector<int> labels_from(const std::vector<int>& labels, Eigen::Index first, Rows count) {
  return {labels.begin() + first, labels.begin() + first + count};
}

void run(int argc, char** argv) {
  const PageOptions options = parse_page_options(argc, argv);
  if (!options.common.plot.empty()) throw UsageError("--plot: there is nothing to plot");
  std::filesystem::create_directories(options.folder);
  const JsonFile facts_file(options.folder / "facts.json");
  const JsonFile json(options.common.json);
  const Digits digits =
      load_digits(options.common.data, mnist_train_size, mnist_test_size, options.common.threads);
  if (digits.drawn) throw std::runtime_error("the page is made of MNIST: " + digits.source);
  const auto threads = static_cast<unsigned>(options.common.threads);
  const bpm::GradientFeatures gradients(digit_page::shape);
  const digit_page::Bytes inputs = gradients(digits.train.inputs, threads);
  const digit_page::Bytes tests = gradients(digits.test.inputs, threads);

  bpm::PermutedPerceptron sampler;
  sampler.draws = options.draws;
  bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::hard(), .bias = 0};
  settings.seed = options.common.seed;
  settings.threads = threads;
  const bpm::OneVsRest machine(bpm::BayesPointMachine(digit_page::kernel(), sampler, settings));
  const digit_page::Bytes training = inputs.topRows(options.train);
  const auto fitted = machine.fit(training, labels_from(digits.train.labels, 0, options.train));

  // The slope of probabilities, and the thresholds, each by digits that trained nothing.
  const auto part = [&](Eigen::Index first, Eigen::Index end) {
    return digit_page::Bytes(inputs.middleRows(first, end - first));
  };
  const auto slope_labels =
      labels_from(digits.train.labels, first_for_slope, first_for_risk - first_for_slope);
  const auto slope = bpm::fit_slope(fitted.decision_values(part(first_for_slope, first_for_risk)),
                                    slope_labels, fitted.classes());
  const auto with_slope = fitted.with_slope(slope.slope);

  // Everything from here on is said by the model as the page reads it.
  digit_page::Bytes pictures(std::ssize(fitted.support()), digits.train.inputs.cols());
  std::vector<int> labels;
  for (Eigen::Index i = 0; i < pictures.rows(); ++i) {
    const auto number = fitted.support()[static_cast<std::size_t>(i)];
    pictures.row(i) = digits.train.inputs.row(number);
    labels.push_back(digits.train.labels[static_cast<std::size_t>(number)]);
  }
  const std::vector<char> file = digit_page::to_file(with_slope, pictures, labels);
  const digit_page::Model model = digit_page::from_file(file);
  const Eigen::Index risk_size = mnist_train_size - first_for_risk;
  const Eigen::MatrixXd held_out =
      model.machine.decision_values(part(first_for_risk, mnist_train_size));
  const auto held_out_scores = bpm::gap_scores(held_out);
  const auto held_out_right =
      bpm::correct_predictions(labels_from(digits.train.labels, first_for_risk, risk_size),
                               model.machine.labels_of(held_out));
  const Eigen::MatrixXd values = model.machine.decision_values(tests);
  const std::vector<int> classes = model.machine.labels_of(values);
  const auto scores = bpm::gap_scores(values);
  const auto right = bpm::correct_predictions(digits.test.labels, classes);

  Json thresholds = Json::array();
  double lowest = std::numeric_limits<double>::infinity();
  for (const double risk : risks) {
    const auto certified = bpm::certify_risk(held_out_scores, held_out_right, risk,
                                             delta / static_cast<double>(risks.size()));
    // What holds for a smaller risk holds for this one too: it is named where more is accepted.
    if (!certified.found || certified.threshold >= lowest) continue;
    lowest = certified.threshold;

    std::size_t accepted = 0;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] <= lowest) continue;
      ++accepted;
      wrong += right[i] ? 0 : 1;
    }
    thresholds.push_back(
        {{"risk_percent", 100 * risk},
         // Everything is accepted from minus infinity on, which JSON does not know.
         {"threshold", std::max(lowest, -2.0)},
         {"coverage_percent",
          100.0 * static_cast<double>(accepted) / static_cast<double>(scores.size())},
         {"error_percent",
          accepted == 0 ? 0.0
                        : 100.0 * static_cast<double>(wrong) / static_cast<double>(accepted)}});
  }
  const Json facts{{"train_size", options.train},
                   {"draws", options.draws},
                   {"seed", options.common.seed},
                   {"support", pictures.rows()},
                   {"features", inputs.cols()},
                   {"slope_size", first_for_risk - first_for_slope},
                   {"risk_size", risk_size},
                   {"delta", delta},
                   {"test_size", mnist_test_size},
                   {"test_error_percent", 100 * bpm::error_rate(digits.test.labels, classes)},
                   {"test_log_loss", bpm::log_loss(model.machine.probabilities(values),
                                                   digits.test.labels, model.machine.classes())},
                   {"thresholds", thresholds}};

  // Images, then their labels, then the classes that this program gives them.
  const Eigen::Index test_size = 1000;
  std::vector<char> test;
  digit_page::file_detail::put(test, digits.test.inputs.data(),
                               static_cast<std::size_t>(test_size * digits.test.inputs.cols()));
  test.insert(test.end(), digits.test.labels.begin(), digits.test.labels.begin() + test_size);
  test.insert(test.end(), classes.begin(), classes.begin() + test_size);

  write_whole(options.folder / "digits.model", text_of(file));
  write_whole(options.folder / "test.digits", text_of(test));
  facts_file.write(facts);
  json.write(facts);
  if (!options.common.quiet) std::cout << facts.dump(2) << "\n";
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
