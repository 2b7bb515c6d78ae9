// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "bpm/core/progress.hpp"
#include "bpm/data/source.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "features.hpp"
#include "options.hpp"
#include "report.hpp"

namespace bpm_examples {

/// Digits as a machine takes them: as bytes or as numbers; the others are empty.
struct DigitInputs {
  bool bytes = false;
  /// What the inputs were made from, kept for virtual examples and for pictures.
  bpm::RowMatrix<std::uint8_t> images;
  bpm::RowMatrix<std::uint8_t> test_images;  ///< All for pictures, else some to be timed.
  bpm::ImageShape shape{};
  bpm::RowMatrix<std::uint8_t> train_bytes;
  bpm::RowMatrix<std::uint8_t> test_bytes;
  bpm::RowMatrix<std::uint8_t> calibration_bytes;
  bpm::RowMatrix<float> train;
  bpm::RowMatrix<float> test;
  bpm::RowMatrix<float> calibration;
  std::vector<int> train_labels;
  std::vector<int> test_labels;
  std::vector<int> calibration_labels;

  [[nodiscard]] Eigen::Index train_size() const {
    return bytes ? train_bytes.rows() : train.rows();
  }
  [[nodiscard]] Eigen::Index columns() const { return bytes ? train_bytes.cols() : train.cols(); }
  /// Bytes of memory that the inputs take.
  [[nodiscard]] std::size_t size_in_bytes() const {
    return static_cast<std::size_t>(images.size() + test_images.size() + train_bytes.size() +
                                    test_bytes.size() + calibration_bytes.size()) +
           static_cast<std::size_t>(train.size() + test.size() + calibration.size()) *
               sizeof(float);
  }
};

/// The samplers that --sampler offers.
using DigitSampler = std::variant<bpm::PermutedPerceptron, bpm::Billiard, bpm::KernelGibbs>;

/// The experiment that the options ask for.
struct Experiment {
  bpm::RuntimeKernel kernel;
  DigitSampler sampler;
  bpm::FitSettings settings;
  ImageOptions image{};
  bool unit = false;             ///< Of bytes: inputs are scaled to norm 1.
  bool floor = false;            ///< Measure the rate of matrix products as well.
  std::optional<double> risk{};  ///< To be guaranteed by the calibration digits,
  double delta = 0.01;           ///< but for this chance.
  bool pictures = false;         ///< Find the digits to be drawn.
  bool verify = false;           ///< Count the training errors of every draw anew.
};

[[nodiscard]] Experiment make_experiment(const MnistOptions& options);

/// Finds out how much memory the fit will need and how it will go about it: fills `memory` and
/// `strategy` of the report. Throws `bpm::BudgetTooSmall`, for chains with the training size that
/// the budget holds.
void plan_memory(const Experiment& experiment, const DigitInputs& digits, MnistReport& report);

/// Fits, predicts, evaluates, and fills the report's results. Ctrl-C during the fit ends it with
/// the draws that are finished. Throws as `bpm::OneVsRest::fit`.
void run_experiment(const Experiment& experiment, const DigitInputs& digits,
                    const std::function<void(const bpm::Progress&)>& progress, MnistReport& report);

}  // namespace bpm_examples
