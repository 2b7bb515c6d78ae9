// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "common/setting_search.hpp"

/// \file
/// Machines whose kernel, sampler and kind of inputs are known when Python calls, behind one class
/// without templates: what the library's take to compile is all in machines.cpp and chains.cpp.

namespace bpm_python {

/// The caller's numbers, where they lie.
using Rows =
    std::variant<Eigen::Map<const bpm::RowMatrix<float>>, Eigen::Map<const bpm::RowMatrix<double>>,
                 Eigen::Map<const bpm::RowMatrix<std::uint8_t>>,
                 Eigen::Map<const bpm::SparseRowMatrix<double>>>;

/// What a fit is asked for, in the words of Python's parameters. What is absent is the library's to
/// choose.
struct FitRequest {
  std::string kernel;
  std::optional<double> gamma{};
  std::optional<double> width{};
  std::optional<double> median{};  ///< A distance, in the place of `width`, which is then chosen.
  std::vector<double> widths{};    ///< To choose from, in the place of `width`.
  std::vector<int> degrees{};      ///< To choose from, in the place of `degree`.
  int degree = 5;
  double offset = 1;
  int depth = 2;
  bool unit_inputs = false;
  std::string sampler;  ///< Or "expectation_propagation".
  std::optional<std::uint64_t> draws{};
  double noise_deviation = 0;             ///< Of expectation propagation.
  std::optional<double> soft_boundary{};  ///< lambda over k(x, x).
  std::vector<std::pair<int, double>> class_weights{};
  std::optional<double> bias{};
  /// Widths, biases, whether pairs of classes are tried, and how thoroughly; the kernels are made
  /// from what stands above.
  bpm_examples::SettingSearch search{};
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::size_t memory = std::size_t{1} << 30U;
};

/// What was chosen, and from what.
struct ChosenSetting {
  std::vector<bpm::ChoiceCandidate> candidates;
  std::size_t best = 0;
  std::string name{};                ///< "width" or "degree".
  std::vector<double> parameters{};  ///< Of each kernel; empty: of one alone.
};

/// What Python shows of a model.
struct ModelFacts {
  std::vector<bpm::PointIndex> support;
  std::uint64_t draws = 0;
  bool stopped = false;
  double soft_boundary = 0;  ///< Chosen, lambda over k(x, x); 0 where it was given.
  double label_noise = 0;
  std::optional<double> standard_error{};  ///< Of chains.
  std::vector<double> log_evidence{};      ///< Of expectation propagation, one a column.
  std::vector<std::string> warnings{};
  double training_seconds = 0;
  bool probabilities = true;  ///< Whether there were rows enough to find them.
  std::optional<ChosenSetting> chosen{};
};

using Watch = std::function<bool(const bpm::Progress&)>;

/// A fitted machine. Questions may come from several threads at once, `add_draws` from one that is
/// alone.
class Model {
 public:
  virtual ~Model() = default;

  /// Kernel and kind of inputs in words, which `load` takes.
  [[nodiscard]] virtual std::string kind() const = 0;
  /// As labels are taken from them: `Classifier::shifted`. Of a posterior numbers that grow with
  /// its probabilities, as scikit-learn expects: of two classes the z whose Phi(z) is the
  /// probability, of more their logarithms. (Its kernel values alone, if precomputed, know no
  /// variance: then as of others.)
  [[nodiscard]] virtual Eigen::MatrixXd decision_values(const Rows& rows) const = 0;
  /// n x C, also of two classes. `diagonal`: k(x, x) of rows of a precomputed kernel.
  [[nodiscard]] virtual Eigen::MatrixXd probabilities(
      const Rows& rows, const std::optional<Eigen::VectorXd>& diagonal) const = 0;
  [[nodiscard]] virtual ModelFacts facts() const = 0;
  /// The bytes of a model file.
  [[nodiscard]] virtual std::vector<std::byte> bytes() const = 0;
  /// The same model with more draws. This one stays as it is.
  /// \throws std::invalid_argument unless it comes from a sampler's fit.
  [[nodiscard]] virtual std::shared_ptr<const Model> with_draws_added(std::uint64_t draws,
                                                                      const Watch& watch,
                                                                      bpm::StopToken stop) const;
};

/// `rows` must stay where they are while the model, or one with draws added, is there; `owner` is
/// kept as long.
[[nodiscard]] std::shared_ptr<const Model> fit(const FitRequest& request, const Rows& rows,
                                               std::shared_ptr<const void> owner,
                                               std::vector<int> labels, const Watch& watch,
                                               bpm::StopToken stop);

/// \throws bpm::DataError on bytes that are no model of this kind.
[[nodiscard]] std::shared_ptr<const Model> load(const std::string& kind,
                                                const std::vector<std::byte>& bytes,
                                                unsigned threads);

[[nodiscard]] double median_distance(const Rows& rows);

/// As `bpm_examples::floats_suffice`, of dense rows of doubles.
[[nodiscard]] bool floats_suffice(const Rows& rows);

}  // namespace bpm_python
