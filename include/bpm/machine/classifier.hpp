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
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/boundary_choice.hpp"
#include "bpm/machine/coefficients.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/precomputed_kernel.hpp"
#include "bpm/machine/prediction.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm {

/// What a classifier is made of. C below is the number of columns: 1 for two classes, whose
/// positive values mean the second of them; for more classes one a class, whose largest value wins.
/// The first five fields are needed, what fits leave behind beside them may be left out.
template <class Kernel, InputSet Inputs>
struct ClassifierParts {
  Kernel kernel;
  /// The support inputs, in the order of `support`. With a `PrecomputedKernel`, whose questions
  /// have a column a training point, a matrix of so many columns and no rows.
  Inputs inputs;
  std::vector<PointIndex> support;  ///< Their numbers in the training set, ascending.
  RowMatrix<double> coefficients;   ///< Support points x C.
  std::vector<int> classes;         ///< Two or more, ascending.
  bool divide_by_self = true;       ///< Whether outputs are divided by sqrt(k(x, x)).
  unsigned threads = 0;             ///< To predict with; 0: as many as the machine runs.

  /// Single draws that were kept, N of them: support points x (N C), column n C + c of draw n.
  RowMatrix<double> draw_coefficients{};
  std::vector<std::uint64_t> draw_numbers{};  ///< N.
  std::vector<double> draw_weights{};         ///< N C, positive.

  // What was known when the fit ended: each list empty or of C entries.
  std::vector<double> mean_norms{};  ///< norm(E[w]) under the sampling kernel: how draws agree.
  /// min_i y_i <w, x_i> / norm(w) of the Bayes point w, under the sampling kernel.
  std::vector<double> training_margins{};
  /// Training errors under the plain kernel; 0 unless there is a soft boundary or label noise.
  std::vector<std::size_t> training_errors{};
  /// How an automatic soft boundary was chosen.
  std::optional<BoundaryChoice> boundary{};
  SamplerReport report{};     ///< What the sampler did, in all runs.
  MemoryForecast forecast{};  ///< The memory and the strategy that were expected as the fit began.
  double training_seconds = 0;  ///< Of wall clock, all runs.
};

/// A classifier of kernel values with some training inputs, its support: a plain value. Made by
/// machines, or from parts; copies share memory and are never changed.
///
/// `Questions` below are any inputs of the support's kind and precision; for a `PrecomputedKernel`
/// a matrix of kernel values with all training points, or `PrecomputedRows`.
template <class Kernel, InputSet Inputs>
class Classifier {
 public:
  using Parts = ClassifierParts<Kernel, Inputs>;

  /// Memory: the parts, and the support inputs packed for prediction.
  /// \throws std::invalid_argument on sizes that disagree, support or classes that do not ascend,
  ///         fewer than two classes, numbers that are not finite, weights that are not positive.
  explicit Classifier(Parts parts) : body_(std::make_shared<const Body>(std::move(parts))) {}

  /// f_c(x) = sum_j alpha_jc k(x_j, x) / sqrt(k(x, x)), the mean of the draws' normalised outputs
  /// ("Large Scale Bayes Point Machines", section 4), for n inputs, n x C; of a Bayes point between
  /// -1 and 1 for lambda = 0. Not divided by sqrt(k(x, x)) where `divide_by_self` is false, or a
  /// `PrecomputedKernel` comes without diagonal.
  /// Cost: n times the support size in kernel evaluations, on all threads; an input's values are
  /// the same bits in a batch of any size. \throws std::invalid_argument on another number of
  /// columns or numbers that are not finite. \throws KernelValueError on kernel values that are not
  /// finite or near overflow.
  template <class Questions>
  [[nodiscard]] Eigen::MatrixXd decision_values(const Questions& inputs) const {
    return values().outputs(inputs, body_->packed, parts().divide_by_self, threads(),
                            "Classifier::decision_values");
  }

  /// Of two classes the second where the value is positive, of more the one with the largest value,
  /// the first among equals.
  /// \throws std::invalid_argument unless there are C columns.
  [[nodiscard]] std::vector<int> labels_of(const Eigen::MatrixXd& decision_values) const {
    detail::check_size("Classifier::labels_of", "decision_values", decision_values.cols(),
                       columns(), "columns: one for two classes, else one per class");
    std::vector<int> labels;
    labels.reserve(static_cast<std::size_t>(decision_values.rows()));
    for (Eigen::Index i = 0; i < decision_values.rows(); ++i) {
      labels.push_back(classes()[winner(decision_values, i, 0)]);
    }
    return labels;
  }

  template <class Questions>
  [[nodiscard]] std::vector<int> predict(const Questions& inputs) const {
    return labels_of(decision_values(inputs));
  }

  /// The normalised outputs of the single draws, n x (N C): column n C + c is that of draw n.
  /// \throws std::invalid_argument if no draws were kept; as `decision_values`.
  template <class Questions>
  [[nodiscard]] Eigen::MatrixXd draw_decision_values(const Questions& inputs) const {
    const char* const function = "Classifier::draw_decision_values";
    detail::check(!parts().draw_numbers.empty(), function, "keep_draws",
                  "was false when the machine was fitted, must be true for single draws");
    return values().outputs(inputs, detail::PackedCoefficients(parts().draw_coefficients),
                            parts().divide_by_self, threads(), function);
  }

  /// The weighted fraction of draws that vote for a class, n x C: of two classes for the second.
  /// The columns of a draw vote together, with the weight of the first. Needs kept draws.
  template <class Questions>
  [[nodiscard]] Eigen::MatrixXd vote_fractions(const Questions& inputs) const {
    const Eigen::MatrixXd outputs = draw_decision_values(inputs);
    Eigen::MatrixXd votes = Eigen::MatrixXd::Zero(outputs.rows(), columns());
    double total = 0;
    for (Eigen::Index begin = 0; begin < outputs.cols(); begin += columns()) {
      const double weight = parts().draw_weights[begin];
      total += weight;
      for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
        const std::ptrdiff_t voted = winner(outputs, i, begin);
        if (columns() > 1) {
          votes(i, voted) += weight;
        } else if (voted == 1) {
          votes(i, 0) += weight;
        }
      }
    }
    return votes / total;
  }

  /// The Gibbs error: the weighted mean over draws of the fraction of inputs that a draw gets
  /// wrong. A label that is no class is always wrong. Needs kept draws. \throws
  /// std::invalid_argument unless there is a label an input; as `draw_decision_values`.
  template <class Questions>
  [[nodiscard]] double gibbs_error(const Questions& inputs, std::span<const int> labels) const {
    const Eigen::MatrixXd votes = vote_fractions(inputs);
    detail::check_size("Classifier::gibbs_error", "labels", labels.size(), votes.rows(),
                       "one per input");
    double error = 0;
    for (Eigen::Index i = 0; i < votes.rows(); ++i) {
      const auto found = std::find(classes().begin(), classes().end(), labels[i]);
      const std::ptrdiff_t place = found - classes().begin();
      if (found == classes().end()) {
        error += 1;
      } else if (columns() == 1) {
        error += place == 1 ? 1 - votes(i, 0) : votes(i, 0);
      } else {
        error += 1 - votes(i, place);
      }
    }
    return error / std::max<double>(1, votes.rows());
  }

  [[nodiscard]] const Parts& parts() const noexcept { return body_->parts; }
  /// 1 for two classes, else one a class.
  [[nodiscard]] std::ptrdiff_t columns() const noexcept { return parts().coefficients.cols(); }
  [[nodiscard]] const std::vector<int>& classes() const noexcept { return parts().classes; }
  [[nodiscard]] const std::vector<PointIndex>& support() const noexcept { return parts().support; }
  [[nodiscard]] const RowMatrix<double>& coefficients() const noexcept {
    return parts().coefficients;
  }
  [[nodiscard]] const Kernel& kernel() const noexcept { return parts().kernel; }
  [[nodiscard]] const SamplerReport& report() const noexcept { return parts().report; }
  [[nodiscard]] const MemoryForecast& forecast() const noexcept { return parts().forecast; }

  /// The numbers of one column of `ClassifierParts`.
  /// \throws std::invalid_argument where there is none.
  [[nodiscard]] double mean_norm(std::size_t column = 0) const {
    return at(parts().mean_norms, column, "Classifier::mean_norm");
  }
  [[nodiscard]] double training_margin(std::size_t column = 0) const {
    return at(parts().training_margins, column, "Classifier::training_margin");
  }
  [[nodiscard]] std::size_t training_errors(std::size_t column = 0) const {
    return at(parts().training_errors, column, "Classifier::training_errors");
  }

  /// Calls visit(worker, begin, rows, values, diagonal) for blocks of inputs, on several threads:
  /// `values` are k(x, x_j) of `rows` inputs from `begin` on with all support points, a row an
  /// input without gaps, and `diagonal` their k(x, x); both are `kernel_scalar_t<Inputs>` or, of
  /// the diagonal, double. `worker` is below the number of threads. For what else kernel values
  /// with the support are good for. With a `PrecomputedKernel`, of `PrecomputedRows`. \throws as
  /// `decision_values`, in the name of `function`.
  template <class Questions, class Visit>
  void visit_values(const Questions& inputs, std::string_view function, Visit&& visit) const {
    values().visit_values(inputs, threads(), function, std::forward<Visit>(visit));
  }

 private:
  struct Body {
    explicit Body(Parts from)
        : parts(std::move(from)),
          packed((check_parts(parts), parts.coefficients)),
          values(parts.kernel, parts.inputs, parts.support) {}

    Parts parts;
    detail::PackedCoefficients packed;
    detail::SupportValues<Kernel, Inputs> values;
  };

  [[nodiscard]] const detail::SupportValues<Kernel, Inputs>& values() const noexcept {
    return body_->values;
  }
  [[nodiscard]] unsigned threads() const { return detail::thread_count(parts().threads); }

  /// The place among the classes for which the C values from column `begin` on of a row are.
  [[nodiscard]] std::ptrdiff_t winner(const Eigen::MatrixXd& outputs, Eigen::Index row,
                                      Eigen::Index begin) const {
    if (columns() == 1) {
      return outputs(row, begin) > 0 ? 1 : 0;
    }
    std::ptrdiff_t best = 0;
    for (std::ptrdiff_t c = 1; c < columns(); ++c) {
      if (outputs(row, begin + c) > outputs(row, begin + best)) best = c;
    }
    return best;
  }

  template <class T>
  [[nodiscard]] static T at(const std::vector<T>& list, std::size_t column,
                            std::string_view function) {
    detail::check(column < list.size(), function, "column", "is ", column, ", must be below ",
                  list.size());
    return list[column];
  }

  static void check_parts(const Parts& parts) {
    const char* const f = "Classifier";
    const auto check_matrix = [&](const RowMatrix<double>& matrix, std::string_view name) {
      for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
          detail::check(std::isfinite(matrix(i, c)), f, name, "at ", i, ", ", c, " is ",
                        matrix(i, c), ", must be finite");
        }
      }
    };
    detail::check(parts.classes.size() >= 2, f, "classes", "has ", parts.classes.size(),
                  " entries, must have two or more");
    for (std::size_t c = 1; c < parts.classes.size(); ++c) {
      detail::check(parts.classes[c - 1] < parts.classes[c], f, "classes", "at ", c, " is ",
                    parts.classes[c], " after ", parts.classes[c - 1], ", must ascend");
    }
    for (std::size_t s = 0; s < parts.support.size(); ++s) {
      detail::check(parts.support[s] > (s == 0 ? -1 : parts.support[s - 1]), f, "support", "at ", s,
                    " is ", parts.support[s], ", must ascend from 0 on");
    }
    if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
      detail::check(parts.support.empty() || parts.support.back() < parts.inputs.cols(), f,
                    "support", "ends with ", parts.support.back(), ", must be below ",
                    parts.inputs.cols(), ", the columns of inputs");
    } else {
      detail::check_size(f, "inputs", detail::input_count(parts.inputs), parts.support.size(),
                         "one per support point");
    }
    detail::check_inputs(parts.inputs, f);
    const std::size_t columns = parts.classes.size() == 2 ? 1 : parts.classes.size();
    detail::check_size(f, "coefficients", parts.coefficients.rows(), parts.support.size(),
                       "rows: one per support point");
    detail::check_size(f, "coefficients", parts.coefficients.cols(), columns,
                       "columns: one for two classes, else one per class");
    check_matrix(parts.coefficients, "coefficients");
    if (!parts.draw_numbers.empty()) {
      detail::check_size(f, "draw_coefficients", parts.draw_coefficients.rows(),
                         parts.support.size(), "rows: one per support point");
    }
    detail::check_size(f, "draw_coefficients", parts.draw_coefficients.cols(),
                       parts.draw_numbers.size() * columns, "columns: as coefficients, per draw");
    check_matrix(parts.draw_coefficients, "draw_coefficients");
    detail::check_size(f, "draw_weights", parts.draw_weights.size(),
                       parts.draw_numbers.size() * columns, "one per column of draw_coefficients");
    for (const double weight : parts.draw_weights) {
      detail::check(std::isfinite(weight) && weight > 0, f, "draw_weights", "has a ", weight,
                    ", must be positive and finite");
    }
    const auto check_list = [&](std::size_t size, std::string_view name) {
      if (size != 0) detail::check_size(f, name, size, columns, "one per column, or none");
    };
    check_list(parts.mean_norms.size(), "mean_norms");
    check_list(parts.training_margins.size(), "training_margins");
    check_list(parts.training_errors.size(), "training_errors");
  }

  /// Shared by copies, so that they are assignable where the kernel, a lambda, is not.
  std::shared_ptr<const Body> body_;
};

}  // namespace bpm
