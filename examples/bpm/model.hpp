// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bpm/decision/scores.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/machine/table_encoding.hpp"
#include "bpm/samplers/sampler.hpp"
#include "data.hpp"
#include "positions.hpp"

/// \file
/// A model whose kernel and kind of inputs are known when the program runs, and what is asked of
/// it.

namespace bpm_examples {

/// What expectation propagation leaves: see posterior.hpp.
struct PosteriorModel;

struct Model {
  /// The alternatives of `bpm::AnyClassifier`.
  std::variant<bpm::Classifier<bpm::RuntimeKernel, bpm::RowMatrix<float>>,
               bpm::Classifier<bpm::RuntimeKernel, bpm::RowMatrix<double>>,
               bpm::Classifier<bpm::RuntimeKernel, bpm::RowMatrix<std::uint8_t>>,
               bpm::Classifier<bpm::RuntimeKernel, bpm::SparseRowMatrix<float>>,
               bpm::Classifier<bpm::RuntimeKernel, bpm::SparseRowMatrix<double>>>
      classifier;
  /// Of expectation propagation the same classifier and its posteriors.
  std::shared_ptr<const PosteriorModel> posterior{};
};

/// A kernel as on the command line ("composed" where it is none of those), and with its parameters.
struct KernelWords {
  std::string name;
  std::string formula;
};
[[nodiscard]] KernelWords words_of(const bpm::RuntimeKernel& kernel);

/// What is known of a model beside its numbers.
struct ModelFacts {
  std::string inputs;  ///< "float", "double", "byte", "sparse"
  KernelWords kernel;
  Eigen::Index features = 0;
  std::size_t support = 0;
  std::vector<int> classes;
  std::vector<std::string> class_names;  ///< A name for each, of integers their digits.
  bool named = false;                    ///< Whether they are words.
  bool one_against_one = false;
  std::vector<std::string> feature_names;
  std::optional<bpm::TableEncoding> encoding;
  Positions positions;
  bool standardised = false;
  std::size_t constant_columns = 0;
  bool calibrated = false;
  double slope = 0;
  std::vector<double> offsets;
  std::size_t probability_rows = 0;
  double bias = 0;
  std::optional<bpm::Rejection> rejection;
  std::optional<std::uint64_t> seed;
  std::optional<bpm::BoundaryChoice> boundary;
  std::vector<bpm::FitWarning> warnings;
  bpm::SamplerReport report;
  double training_seconds = 0;
};

/// Probabilities of a model: see `bpm::ClassifierParts`.
struct Calibration {
  double slope = 0;
  std::vector<double> offsets{};
  std::size_t rows = 0;
};

/// What is put into a model once it is fitted; what is absent stays.
struct Finish {
  std::vector<std::string> names{};     ///< names[label]
  std::vector<std::string> features{};  ///< A name per column.
  std::optional<bpm::TableEncoding> encoding{};
  Positions positions{};
  std::optional<bpm::Standardisation> scaling{};
  std::optional<Calibration> calibration{};
  std::optional<bpm::Rejection> rejection{};
  std::optional<int> threads{};
};

/// Whether the path is a file that begins as models do: a length, and a header in JSON that names
/// a kind of this library.
[[nodiscard]] bool is_model_file(const std::string& path);
/// The model in a file, "-" for standard input. Throws `bpm::DataError`.
[[nodiscard]] Model load_model(const std::string& path);
/// To a file, whole or not at all, or to standard output. Returns its bytes.
std::size_t save_model(const Model& model, const std::string& path);
[[nodiscard]] Model finished(const Model& model, const Finish& finish);
/// The model of `--kernel linear` as one number per feature and column: its support are the rows
/// w_c = sum_j alpha_jc x_j, each with the coefficient 1. A row of zeros has the rest of the factor
/// of the bias, sum_j alpha_jc - 1.
[[nodiscard]] Model weights_alone(const Model& model);
[[nodiscard]] ModelFacts facts_of(const Model& model);

/// The name of a score for `bpm::Rejection`: the gap of rows that are called this class, of others
/// infinity. (That of all rows is "gap".)
[[nodiscard]] inline std::string gap_of_class(const std::string& name) { return "gap of " + name; }

/// As `Classifier::decision_values`, of rows of any kind.
[[nodiscard]] Eigen::MatrixXd decision_values(const Model& model, const Inputs& inputs);
/// n x C, also of two classes; empty where the model is not calibrated. `values`: the decision
/// values of these inputs.
[[nodiscard]] Eigen::MatrixXd class_probabilities(const Model& model, const Inputs& inputs,
                                                  const Eigen::MatrixXd& values);
/// Decision values as the labels are taken from them: scores of rejection are of these.
[[nodiscard]] Eigen::MatrixXd shifted_values(const Model& model, const Eigen::MatrixXd& values);
[[nodiscard]] std::vector<int> labels_of(const Model& model, const Eigen::MatrixXd& values);

/// Which of these names a label of the data has: the same word, or of a number the only one that is
/// the same, "01" of 1. Past the last where none is.
[[nodiscard]] std::size_t place_of_label(const std::vector<std::string>& names, const Data& data,
                                         int label);
/// The labels of the data as the classes of the model, which may be other numbers for the same
/// words. Throws `bpm::DataError` on one that the model does not know.
[[nodiscard]] std::vector<int> labels_for(const ModelFacts& facts, const Data& data);

}  // namespace bpm_examples
