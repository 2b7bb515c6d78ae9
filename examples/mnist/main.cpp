// SPDX-License-Identifier: MIT
// Handwritten digits with rejection: the experiment of R. Herbrich, T. Graepel, "Large Scale Bayes
// Point Machines" (NIPS 13, 2001), section 4, and variations of it.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "common/json_file.hpp"
#include "common/machine_info.hpp"
#include "common/mnist_data.hpp"
#include "common/pixels.hpp"
#include "common/plot.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "pictures.hpp"
#include "report.hpp"

namespace {

using namespace bpm_examples;

/// Reads or draws the digits; of floats the bytes are gone when it returns.
DigitInputs read_digits(const MnistOptions& options, MnistReport& report) {
  WallTimer timer;
  Digits digits =
      options.fold > 0
          ? load_fold(options.common.data, options.fold, options.common.threads)
          : load_digits(options.common.data, options.train, options.test, options.common.threads);
  report.source = digits.source;
  report.data = digits.name();
  DigitInputs inputs;
  inputs.bytes = options.bytes;
  if (options.even_odd) {
    for (std::vector<int>* labels : {&digits.train.labels, &digits.test.labels}) {
      for (int& label : *labels) label %= 2;
    }
  }
  bpm::RowMatrix<std::uint8_t> calibration;
  if (options.risk) {
    // The last sixth of the training digits, of all of MNIST's 10 000, trains nothing.
    const Eigen::Index aside = digits.train.inputs.rows() / 6;
    const Eigen::Index rest = digits.train.inputs.rows() - aside;
    calibration = digits.train.inputs.bottomRows(aside);
    inputs.calibration_labels.assign(digits.train.labels.begin() + rest, digits.train.labels.end());
    digits.train.inputs.conservativeResize(rest, Eigen::NoChange);
    digits.train.labels.resize(static_cast<std::size_t>(rest));
    report.train_size = rest;
  }
  inputs.train_labels = std::move(digits.train.labels);
  inputs.test_labels = std::move(digits.test.labels);
  const bool pictures = !options.pictures.empty();
  if (options.image.copies > 0 || pictures) inputs.images = digits.train.inputs;
  constexpr Eigen::Index timed = 200;
  const Eigen::Index kept = digits.test.inputs.rows();
  inputs.test_images = digits.test.inputs.topRows(pictures ? kept : std::min(timed, kept));
  report.read_seconds = timer.seconds();
  inputs.shape = digits.shape;
  const ImageFeatures features(options.image, digits.shape);
  report.feature_numbers = features.size(digits.train.inputs.cols());
  const auto see = [&](bpm::RowMatrix<std::uint8_t>& images, double& seconds) {
    if (!(options.image.gradient || options.image.upright) || images.rows() == 0) return;
    timer.restart();
    images = features.of(images, options.common.threads);
    seconds += timer.seconds();
    report.features_seconds += timer.seconds();
  };
  see(digits.train.inputs, report.train_seconds);
  see(digits.test.inputs, report.predict_seconds);
  see(calibration, report.predict_seconds);
  timer.restart();
  if (options.bytes) {
    inputs.train_bytes = std::move(digits.train.inputs);
    inputs.test_bytes = std::move(digits.test.inputs);
    inputs.calibration_bytes = std::move(calibration);
  } else {
    inputs.train = scale_pixels(digits.train.inputs, options.normalise, options.common.threads);
    inputs.test = scale_pixels(digits.test.inputs, options.normalise, options.common.threads);
    inputs.calibration = scale_pixels(calibration, options.normalise, options.common.threads);
  }
  report.read_seconds += timer.seconds();
  return inputs;
}

MnistReport report_of(const MnistOptions& options) {
  MnistReport report;
  report.train_size = options.train;
  report.test_size = options.test;
  report.draws_wanted = static_cast<std::int64_t>(options.draws);
  report.seed = options.common.seed;
  report.threads = options.common.threads;
  report.sampler = options.sampler;
  report.kernel = options.kernel;
  report.kernel_formula = options.kernel_formula();
  report.input = options.bytes ? "byte" : "float";
  report.normalise = options.normalise;
  report.features = options.image.gradient ? "gradient" : "pixels";
  report.slant_removal = options.image.upright;
  report.copies_by = options.image.copies_by;
  report.virtual_copies = options.image.copies;
  report.fold = options.fold;
  report.lambda = options.lambda;
  report.lambda_relative = options.lambda_relative;
  report.even_odd = options.even_odd;
  report.leading = options.reject;
  return report;
}

void run(int argc, char** argv) {
  const MnistOptions options = parse_mnist_options(argc, argv);
  const Experiment experiment = make_experiment(options);
  const JsonFile json(options.common.json);
  MnistReport report = report_of(options);
  const DigitInputs digits = read_digits(options, report);
  plan_memory(experiment, digits, report);
  if (!options.common.quiet) {
    print_settings(std::cout, report);
  }

  try {
    ProgressBar bar(progress_style(options.common.quiet));
    run_experiment(
        experiment, digits, [&](const bpm::Progress& now) { bar(now); }, report);
  } catch (const bpm::Stopped&) {
    throw Interrupted("stopped before the first of " + std::to_string(options.draws) +
                      " draws was finished: there is nothing to report");
  }
  report.peak_memory_bytes = peak_resident_bytes();

  if (!options.common.quiet) {
    print_results(std::cout, report);
    std::cout << std::flush;
  }
  check_chains(report).print("mnist", options.common.quiet ? nullptr : &std::cout);
  json.write(report_json(report));
  if (!options.common.plot.empty()) {
    write_plot(rejection_plot(report), options.common.plot);
  }
  if (!options.pictures.empty()) {
    write_pictures(report.pictures, digits.shape,
                   ImageFeatures(options.image, digits.shape).gradient(), options.pictures);
  }
  if (report.draws < report.draws_wanted) {
    throw Interrupted("stopped after " + std::to_string(report.draws) + " of " +
                      std::to_string(options.draws) + " draws; the results are theirs");
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
