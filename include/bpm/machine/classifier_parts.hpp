// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Names and history of a classifier: plain members, to be set by anyone. Decision values, labels
/// and probabilities do not depend on them. Model files hold them.
struct Notes {
  std::vector<std::string> class_names{};  ///< Names of the classes, in order, or empty.
  /// Names of the columns of inputs, or none; readers use them for tables with any order of columns
  /// (`TableSettings::features`).
  std::vector<std::string> feature_names{};
  /// Encoding that made the inputs of a table's columns, if any; stored in model files for reading
  /// tables.
  std::optional<TableEncoding> encoding{};
  /// Label column of tables like the training table, from 0; absent: the last one not ignored. For
  /// tables without names (`TableSettings::label`).
  std::optional<Eigen::Index> label_column{};
  /// Columns of the table that are no features, ascending (`TableSettings::ignored`).
  std::vector<Eigen::Index> ignored_columns{};
  /// Rejection chosen on held-out data, stored in model files.
  std::optional<Rejection> rejection{};
  /// Description, by its maker, of how the inputs are made of images or other data, stored in model
  /// files.
  std::optional<std::string> inputs_made_by{};
  std::optional<std::uint64_t> seed{};       ///< Seed of the fit, if there was one.
  std::size_t training_points = 0;           ///< Points of one training set; 0: several, unknown.
  bool chosen = false;                       ///< `FitSettings::chosen` of the fit.
  std::optional<BoundaryChoice> boundary{};  ///< Choice of an automatic soft boundary.
  std::vector<FitWarning> warnings{};        ///< Warnings of the fit.
  SamplerReport report{};                    ///< Report of the sampler, of all runs.
  MemoryForecast forecast{};                 ///< Memory and strategy expected when the fit began.
  double training_seconds = 0;               ///< Wall clock time of all runs.

  /// Sets `class_names` from names[label], as in `LabelledData::class_names`; without names, as
  /// those of a table whose labels are numbers, to none. \throws std::invalid_argument if a class
  /// has none.
  void name_classes(std::span<const int> classes, const std::vector<std::string>& names) {
    class_names.clear();
    if (names.empty()) return;
    for (const int label : classes) {
      detail::check(label >= 0 && static_cast<std::size_t>(label) < names.size(),
                    "Notes::name_classes", "names", "has none for the class ", label);
      class_names.push_back(names[static_cast<std::size_t>(label)]);
    }
  }

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("class_names", self.class_names);
    detail::visit_unless({}, "feature_names", self.feature_names, visit);
    visit("encoding", self.encoding);
    visit("label_column", self.label_column);
    detail::visit_unless({}, "ignored_columns", self.ignored_columns, visit);
    visit("rejection", self.rejection);
    visit("inputs_made_by", self.inputs_made_by);
    visit("seed", self.seed);
    detail::visit_unless(0, "training_points", self.training_points, visit);
    detail::visit_unless(false, "chosen", self.chosen, visit);
    visit("boundary", self.boundary);
    visit("warnings", self.warnings);
    visit("report", self.report);
    visit("forecast", self.forecast);
    visit("training_seconds", self.training_seconds);
  }
};

/// Parts of a classifier. C below is the number of columns: 1 for two classes, whose positive
/// values mean the second of them; for more classes one per class, whose largest value wins, or
/// with `one_against_one` one per pair of them, (0, 1), (0, 2), (1, 2), (0, 3), ..., whose positive
/// values mean the second. The first five fields are required, the others optional.
template <class Kernel, InputSet Inputs>
struct ClassifierParts {
  Kernel kernel;  ///< Kernel of the fit, or the chosen one.
  /// Support inputs, in the order of `support`. With a `PrecomputedKernel`, whose queries have a
  /// column per training point, a matrix of as many columns and no rows.
  Inputs inputs;
  std::vector<PointIndex> support;  ///< Training indices of the support, ascending.
  RowMatrix<double> coefficients;   ///< Dual coefficients, support points x C.
  std::vector<int> classes;         ///< Class labels, two or more, ascending.
  bool divide_by_self = true;       ///< Whether outputs are divided by sqrt(k(x, x)).
  /// Mean k(x, x) of the training points for a `PrecomputedKernel`; outputs at an x without its own
  /// are divided by its root. 0: not divided.
  double mean_diagonal = 0;
  /// Standardisation of queries; the support inputs are standardised already.
  std::optional<Standardisation> standardisation{};
  /// Point that a kernel of distances subtracts from support and queries, one number per feature,
  /// if their means are far from zero; empty: zero. It changes distances by rounding alone.
  std::vector<double> origin{};
  bool one_against_one = false;  ///< Whether columns are pairs of classes.
  double bias = 0;               ///< Constant added to every kernel value, also to k(x, x).
  unsigned threads = 0;          ///< Threads of predictions; 0: as many as the machine runs.

  /// Coefficients of N kept draws: support points x (N C), column n C + c of draw n.
  RowMatrix<double> draw_coefficients{};
  std::vector<std::uint64_t> draw_numbers{};  ///< Numbers of the kept draws, N.
  std::vector<double> draw_weights{};         ///< Weights of the kept draws, N C, positive.

  // Results of the fit: each list is empty or has C entries.
  std::vector<double> mean_norms{};  ///< norm(E[w]) under the sampling kernel.
  /// min_i y_i <w, x_i> / norm(w) of the Bayes point w, under the sampling kernel.
  std::vector<double> training_margins{};
  /// Training errors under the plain kernel; 0 unless there is a soft boundary or label noise.
  std::vector<std::size_t> training_errors{};
  double slope = 0;  ///< Slope of probabilities: see `probabilities_of`. 0: unknown.
  /// Offsets of probabilities in log odds, one per decision value, to be added to it; or none.
  std::vector<double> offsets{};
  /// Whether labels and scores of rejection include the offsets, which `Classifier::shifted` adds.
  /// False if the soft boundary has class weights: these move labels on purpose, and the offsets
  /// undo that for the probabilities alone.
  bool offsets_move_labels = true;
  std::size_t probability_rows = 0;  ///< Rows that gave slope and offsets; 0: unknown.
  /// Owner of the memory of `inputs` if it is a view; null: the caller.
  std::shared_ptr<const void> memory{};
  std::string source{};  ///< Name of a view's data in messages, usually a file's.

  /// Visits the members written as JSON; arrays are tensors.
  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("classes", self.classes);
    visit("divide_by_self", self.divide_by_self);
    detail::visit_unless(0, "mean_diagonal", self.mean_diagonal, visit);
    visit("bias", self.bias);
    detail::visit_unless({}, "origin", self.origin, visit);
    visit("draw_numbers", self.draw_numbers);
    visit("draw_weights", self.draw_weights);
    visit("mean_norms", self.mean_norms);
    visit("training_margins", self.training_margins);
    visit("training_errors", self.training_errors);
    visit("slope", self.slope);
    detail::visit_unless({}, "offsets", self.offsets, visit);
    detail::visit_unless(true, "offsets_move_labels", self.offsets_move_labels, visit);
    detail::visit_unless(0, "probability_rows", self.probability_rows, visit);
  }
};

namespace detail {

/// References to members of `ClassifierParts`, without the types of kernel and inputs.
struct PartNumbers {
  std::vector<PointIndex>& support;
  RowMatrix<double>& coefficients;
  const std::vector<int>& classes;
  const std::optional<Standardisation>& standardisation;
  const std::vector<double>& origin;
  const bool& one_against_one;
  const double& bias;
  const double& mean_diagonal;
  RowMatrix<double>& draw_coefficients;
  std::vector<std::uint64_t>& draw_numbers;
  std::vector<double>& draw_weights;
  std::vector<double>& mean_norms;
  std::vector<double>& training_margins;
  std::vector<std::size_t>& training_errors;
  const double& slope;
  const std::vector<double>& offsets;
};

template <class Kernel, InputSet Inputs>
[[nodiscard]] PartNumbers numbers_of(ClassifierParts<Kernel, Inputs>& p) {
  return {
      p.support,         p.coefficients, p.classes,          p.standardisation,   p.origin,
      p.one_against_one, p.bias,         p.mean_diagonal,    p.draw_coefficients, p.draw_numbers,
      p.draw_weights,    p.mean_norms,   p.training_margins, p.training_errors,   p.slope,
      p.offsets};
}

/// Throws unless sizes and numbers are consistent. `inputs`: their number; -1: their `features` are
/// the columns of a matrix of kernel values. `features`: -1 of inputs without columns.
BPM_INLINE void check_parts(const PartNumbers& parts, std::ptrdiff_t inputs,
                            std::ptrdiff_t features);

/// Throws unless the notes have sizes that suit so many classes and columns of inputs, -1: none.
BPM_INLINE void check_notes(const Notes& notes, std::size_t classes, std::ptrdiff_t columns,
                            const char* function);

/// Returns the columns of the inputs, -1 if they have none.
template <InputSet I>
[[nodiscard]] std::ptrdiff_t columns_of(const I& inputs) {
  if constexpr (DenseInputs<I> || SparseInputs<I>) {
    return inputs.cols();
  } else {
    return -1;
  }
}

template <class Kernel, InputSet Inputs>
void check_parts(ClassifierParts<Kernel, Inputs>& parts) {
  constexpr bool precomputed = std::same_as<Kernel, PrecomputedKernel>;
  check(!parts.standardisation || (ScalableInputs<Inputs> && !precomputed), "Classifier",
        "standardisation", "is given for inputs that are no dense numbers, or for kernel values");
  check_parts(numbers_of(parts), precomputed ? -1 : input_count(parts.inputs),
              columns_of(parts.inputs));
  if constexpr (!InputView<Inputs>) check_inputs(parts.inputs, "Classifier");
}

#if BPM_BODIES

BPM_INLINE void check_notes(const Notes& notes, std::size_t classes, std::ptrdiff_t columns,
                            const char* function) {
  if (notes.rejection) {
    check(!notes.rejection->score.empty(), function, "rejection",
          "does not say which score its threshold is one of");
    check(!std::isnan(notes.rejection->rejector.threshold), function, "rejection",
          "has the threshold nan, must be a number or infinite");
  }
  if (!notes.class_names.empty()) {
    check_size(function, "class_names", notes.class_names.size(), classes,
               "one per class, or none");
  }
  if (!notes.feature_names.empty()) {
    check(columns >= 0, function, "feature_names", "are given for inputs without columns");
    check_size(function, "feature_names", notes.feature_names.size(), columns,
               "one per feature, or none");
  }
  if (notes.encoding) {
    check(columns >= 0, function, "encoding", "is given for inputs without columns");
    check_size(function, "encoding", notes.encoding->size(), columns, "columns: one per feature");
    notes.encoding->check(function);
  }
  const std::vector<Eigen::Index>& ignored = notes.ignored_columns;
  const Eigen::Index width =
      (notes.encoding ? std::ssize(notes.encoding->columns) : columns) + 1 + std::ssize(ignored);
  for (std::size_t i = 0; i < ignored.size(); ++i) {
    check(ignored[i] > (i == 0 ? -1 : ignored[i - 1]) && ignored[i] < width, function,
          "ignored_columns", "at ", i, " is ", ignored[i], ", must ascend from 0 to below ", width,
          ", the columns of the table");
  }
  const Eigen::Index label = notes.label_column.value_or(0);
  check(!notes.label_column || (label >= 0 && label < width &&
                                !std::binary_search(ignored.begin(), ignored.end(), label)),
        function, "label_column", "is ", label, ", must be below ", width,
        ", the columns of the table, and not ignored");
}

BPM_INLINE void check_parts(const PartNumbers& parts, std::ptrdiff_t inputs,
                            std::ptrdiff_t features) {
  const char* const f = "Classifier";
  const auto check_matrix = [&](const RowMatrix<double>& matrix, std::string_view name) {
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
        check(std::isfinite(matrix(i, c)), f, name, "at ", i, ", ", c, " is ", matrix(i, c),
              ", must be finite");
      }
    }
  };
  check(parts.classes.size() >= 2, f, "classes", "has ", parts.classes.size(),
        " entries, must have two or more");
  for (std::size_t c = 1; c < parts.classes.size(); ++c) {
    check(parts.classes[c - 1] < parts.classes[c], f, "classes", "at ", c, " is ", parts.classes[c],
          " after ", parts.classes[c - 1], ", must ascend");
  }
  for (std::size_t s = 0; s < parts.support.size(); ++s) {
    check(parts.support[s] > (s == 0 ? -1 : parts.support[s - 1]), f, "support", "at ", s, " is ",
          parts.support[s], ", must ascend from 0 on");
  }
  if (inputs >= 0) {
    check_size(f, "inputs", inputs, parts.support.size(), "one per support point");
  } else if (!parts.support.empty()) {
    check(parts.support.back() < features, f, "support", "ends with ", parts.support.back(),
          ", must be below ", features, ", the columns of inputs");
  }
  check_not_negative(f, "bias", parts.bias);
  check_not_negative(f, "mean_diagonal", parts.mean_diagonal);
  if (parts.standardisation) {
    const Standardisation& scaling = *parts.standardisation;
    check_size(f, "standardisation", scaling.mean.size(), features, "one per feature");
    check_size(f, "standardisation", scaling.deviation.size(), features, "one per feature");
    for (const double mean : scaling.mean) {
      check(std::isfinite(mean), f, "standardisation", "has a mean of ", mean, ", must be finite");
    }
    for (const double number : scaling.deviation) check_positive(f, "standardisation", number);
    for (const Eigen::Index column : scaling.constant) {
      check(column >= 0 && column < features, f, "standardisation", "has the constant column ",
            column, ", must be below ", features);
    }
  }
  const auto numbers = std::ssize(parts.origin);
  if (numbers > 0) check_size(f, "origin", numbers, features, "one per feature, or none");
  for (const double number : parts.origin) {
    check(std::isfinite(number), f, "origin", "has a ", number, ", must be finite");
  }
  check_not_negative(f, "slope", parts.slope);
  check(parts.offsets.empty() || parts.slope > 0, f, "offsets", "are given without a slope");
  for (const double offset : parts.offsets) {
    check(std::isfinite(offset), f, "offsets", "have a ", offset, ", must be finite");
  }
  check(!parts.one_against_one || parts.classes.size() > 2, f, "one_against_one",
        "is true, must be false of two classes, which are one pair");
  const std::size_t outputs = parts.classes.size() == 2 ? 1 : parts.classes.size();
  const std::size_t columns = parts.one_against_one ? pair_count(parts.classes.size()) : outputs;
  check_size(f, "coefficients", parts.coefficients.rows(), parts.support.size(),
             "rows: one per support point");
  check_size(f, "coefficients", parts.coefficients.cols(), columns,
             parts.one_against_one ? "columns: one per pair of classes"
                                   : "columns: one for two classes, else one per class");
  check_matrix(parts.coefficients, "coefficients");
  if (!parts.draw_numbers.empty()) {
    check_size(f, "draw_coefficients", parts.draw_coefficients.rows(), parts.support.size(),
               "rows: one per support point");
  }
  check_size(f, "draw_coefficients", parts.draw_coefficients.cols(),
             parts.draw_numbers.size() * columns, "columns: as coefficients, per draw");
  check_matrix(parts.draw_coefficients, "draw_coefficients");
  check_size(f, "draw_weights", parts.draw_weights.size(), parts.draw_numbers.size() * columns,
             "one per column of draw_coefficients");
  for (const double weight : parts.draw_weights) {
    check(std::isfinite(weight) && weight > 0, f, "draw_weights", "has a ", weight,
          ", must be positive and finite");
  }
  const auto check_list = [&](std::size_t size, std::string_view name) {
    if (size != 0) check_size(f, name, size, columns, "one per column, or none");
  };
  check_list(parts.mean_norms.size(), "mean_norms");
  check_list(parts.training_margins.size(), "training_margins");
  check_list(parts.training_errors.size(), "training_errors");
  if (!parts.offsets.empty()) {
    check_size(f, "offsets", parts.offsets.size(), outputs, "one per decision value, or none");
  }
}

#endif

}  // namespace detail
}}  // namespace bpm
