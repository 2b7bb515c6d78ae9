// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/options.hpp"
#include "data.hpp"

/// \file
/// The command lines of `bpm train`, `choose`, `predict`, `evaluate` and `info`. Parsing throws as
/// `parse_options`, and `UsageError`, before a file is read or written.

namespace bpm_examples {

/// LIBSVM's numbers of a kernel, where its flags are used.
struct LibsvmKernel {
  int type = 2;                 ///< 0 linear, 1 polynomial, 2 Gaussian.
  int degree = 3;               ///< -d
  std::optional<double> gamma;  ///< -g; absent: 1 / features.
  double offset = 0;            ///< -r
};

/// What is asked of `train` and `choose`. Lists have one element in `train`.
struct TrainOptions {
  CommonOptions common;
  ReadOptions read;
  bool choosing = false;
  std::string data;
  std::string model;  ///< Empty: none is to be written.
  std::size_t memory = std::size_t{1} << 30U;

  std::string kernel = "gaussian";
  bool kernel_given = false;  ///< Or a width: else sparse rows have the linear kernel.
  std::vector<int> degrees{5};
  double offset = 1;
  std::vector<double> widths;  ///< Empty: by the median distance.
  std::vector<int> depths{2};
  bool normalise = false;
  std::optional<LibsvmKernel> libsvm;  ///< In the place of all these.

  std::string sampler = "perceptron";
  std::optional<std::uint64_t> draws;
  /// lambda over k(x, x); empty: automatic, and 0 is hard.
  std::vector<double> soft_boundary;
  std::optional<double> bias;
  /// Absent: of tables judged by a part of the rows.
  std::optional<bool> standardise;
  bool by_error = false;  ///< Candidates are compared by errors, not by the log loss.
  bool balanced = false;  ///< Class weights by how rare a class is.
  std::vector<std::pair<std::string, double>> class_weights;
  bool many_classes = false;         ///< Of fewer than ten rows each.
  std::size_t folds = 0;             ///< 0: not asked for.
  bool only_cross_validate = false;  ///< LIBSVM's -v: no model.

  std::optional<double> risk;
  std::string risk_class;  ///< Of what is called this class; empty: of all that is accepted.
  double delta = 0.01;
  std::string held_out_file;
  double held_out_share = 0;

  std::string checkpoint;
  bool resume = false;
  bool weights_only = false;  ///< The model is w, of a linear kernel.
};

/// Which rows stay undecided.
struct RejectOption {
  enum class By { nothing, rate, error, risk };
  By by = By::nothing;
  double value = 0;  ///< A fraction.
};

/// From which probability on a class of two is said, in the place of the model's own labels.
struct ThresholdOption {
  std::optional<double> probability{};
  std::string class_name{};  ///< Empty: the second.
  /// In the place of both, for each class what it costs to say it of a row of the other.
  std::vector<std::pair<std::string, double>> costs{};
};

struct PredictOptions {
  CommonOptions common;
  ReadOptions read;
  std::string model;
  std::string data;
  std::string out = "-";
  bool threads_given = false;
  std::size_t memory = std::size_t{1} << 30U;
  RejectOption reject;
  ThresholdOption threshold;
};

struct InfoOptions {
  CommonOptions common;
  std::string model;
};

[[nodiscard]] TrainOptions parse_train_options(int argc, const char* const* argv, bool choosing);
[[nodiscard]] PredictOptions parse_predict_options(int argc, const char* const* argv,
                                                   bool evaluating);
[[nodiscard]] InfoOptions parse_info_options(int argc, const char* const* argv);

/// What `bpm` alone, or with --help, prints.
[[nodiscard]] std::string overview();

}  // namespace bpm_examples
