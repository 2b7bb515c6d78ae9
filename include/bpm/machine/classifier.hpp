// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/decision/class_probabilities.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/classifier_parts.hpp"
#include "bpm/machine/coefficients.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/prediction.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// A classifier by kernel values with some training inputs, its support: a plain value. Machines
/// return it, or it is made from parts; copies share the parts, which never change, and have notes
/// of their own.
///
/// `Queries` below are any inputs of the support's kind and precision; for a `PrecomputedKernel`
/// a matrix of kernel values with all training points, or `PrecomputedRows`. The answer to no
/// inputs, 0 x d, has no rows, and the columns that it has for any.
template <class Kernel, InputSet Inputs>
class Classifier {
 public:
  using Parts = ClassifierParts<Kernel, Inputs>;  ///< Type of its parts.

  /// Memory: the parts, and the support inputs packed for prediction; for a view (`Eigen::Map`)
  /// only rows that cannot be read in place. Queries check a view's numbers as they read them.
  /// \throws std::invalid_argument on sizes that disagree, support or classes that do not ascend,
  ///         fewer than two classes, numbers that are not finite, weights that are not positive.
  explicit Classifier(Parts parts, Notes more = {})
      : notes(std::move(more)), body_(std::make_shared<const Body>(std::move(parts))) {
    detail::check_notes(notes, classes().size(), detail::columns_of(this->parts().inputs),
                        "Classifier");
  }

  /// Names, warnings, report and more; `save` checks what was set.
  Notes notes;

  /// Returns f_c(x) = sum_j alpha_jc k(x_j, x) / sqrt(k(x, x)), k with its bias, the mean of the
  /// draws' normalised outputs ("Large Scale Bayes Point Machines", section 4), for n inputs, n x
  /// C; for a Bayes point between -1 and 1 if lambda = 0; with columns for pairs of classes
  /// (`OneVsRest`) the mean of tanh(f) over a class's pairs. Not divided if `divide_by_self` is
  /// false; for a `PrecomputedKernel` without diagonal, divided by the root of the training points'
  /// mean k(x, x). Cost: n times the support size in kernel evaluations, or for a linear kernel the
  /// numbers of the inputs, on all threads; an input's values have the same bits in a batch of any
  /// size. \throws std::invalid_argument on another number of columns or numbers that are not
  /// finite, KernelValueError on kernel values that are not or near overflow, DataError if the
  /// support is a view of a file (`ClassifierParts::source`) with such numbers.
  template <class Queries>
  [[nodiscard]] Eigen::MatrixXd decision_values(const Queries& inputs) const;

  /// Returns decision values with the classes' offsets: f_c + b_c / s where labels have them
  /// (`ClassifierParts::offsets_move_labels`), else unchanged. Labels are computed from these
  /// values, and scores of rejection should be. Cost O(n C).
  /// \throws std::invalid_argument unless there are C columns.
  [[nodiscard]] Eigen::MatrixXd shifted(Eigen::MatrixXd decision_values) const {
    detail::check_size("Classifier::shifted", "decision_values", decision_values.cols(), columns(),
                       "columns: one for two classes, else one per class");
    if (parts().offsets_move_labels) {
      for (std::size_t c = 0; c < parts().offsets.size(); ++c) {
        decision_values.col(static_cast<Eigen::Index>(c)).array() +=
            parts().offsets[c] / parts().slope;
      }
    }
    return decision_values;
  }

  /// Returns labels: for two classes the second where the `shifted` value is positive, for more the
  /// class of the largest value, the first among equals.
  /// \throws std::invalid_argument unless there are C columns of finite numbers.
  [[nodiscard]] std::vector<int> labels_of(const Eigen::MatrixXd& decision_values) const {
    detail::check_size("Classifier::labels_of", "decision_values", decision_values.cols(),
                       columns(), "columns: one for two classes, else one per class");
    detail::check(decision_values.allFinite(), "Classifier::labels_of", "decision_values",
                  "hold a number that is not finite");
    return detail::labels_of_outputs(shifted(decision_values), classes());
  }

  /// Returns `labels_of` the decision values, one per input. \throws as `decision_values`.
  template <class Queries>
  [[nodiscard]] std::vector<int> predict(const Queries& inputs) const {
    return labels_of(decision_values(inputs));
  }

  /// Returns P(class | x) for decision values of n inputs, n x C, for two classes that of the
  /// second: `probabilities_of` them, at slope and offsets that the fit found on rows that had not
  /// trained it yet, limited by their number. The predicted class is the most probable one, unless
  /// class weights move it. Classes are assumed to be as frequent as in the training set.
  /// \throws std::invalid_argument where no slope is known (a fit that chose its lambda found one;
  ///         else `with_slope`); as `probabilities_of`.
  [[nodiscard]] Eigen::MatrixXd probabilities(const Eigen::MatrixXd& decision_values) const {
    detail::check(parts().slope > 0, "Classifier::probabilities", "slope",
                  notes.boundary
                      ? "is not known: no machine of the automatic soft boundary told anything of "
                        "points left out (see the warnings); give one by with_slope"
                      : "is not known: fit with an automatic soft boundary, or give one by "
                        "with_slope");
    return probabilities_of(decision_values, parts().slope, parts().offsets,
                            parts().probability_rows);
  }

  /// Returns `probabilities` of the decision values of inputs. \throws as the two.
  template <class Queries>
  [[nodiscard]] Eigen::MatrixXd predict_probability(const Queries& inputs) const {
    return probabilities(decision_values(inputs));
  }

  /// Returns a copy with this slope of probabilities, from `OutOfFold::slope`, `ChoiceCandidate` or
  /// `fit_slope` on one's own data, and no offsets: labels are again those of the largest value.
  /// Cost: a copy of the parts. \throws std::invalid_argument unless 0 < slope < inf.
  [[nodiscard]] Classifier with_slope(double slope) const {
    detail::check_positive("Classifier::with_slope", "slope", slope);
    return with([&](Parts& copy) {
      copy.slope = slope;
      copy.offsets.clear();
      copy.probability_rows = 0;
    });
  }

  /// Returns names of predicted classes. \throws std::invalid_argument if unknown; as `predict`.
  template <class Queries>
  [[nodiscard]] std::vector<std::string> predict_names(const Queries& inputs) const {
    detail::check(!notes.class_names.empty(), "Classifier::predict_names", "class_names",
                  "are not known: set notes.class_names");
    detail::check_size("Classifier::predict_names", "class_names", notes.class_names.size(),
                       classes().size(), "one per class");
    std::vector<std::string> names;
    for (const int label : predict(inputs)) {
      const auto place = std::lower_bound(classes().begin(), classes().end(), label);
      names.push_back(notes.class_names[static_cast<std::size_t>(place - classes().begin())]);
    }
    return names;
  }
  /// Returns a copy that standardises its queries; its support inputs must be standardised. Cost: a
  /// copy of the parts. \throws std::invalid_argument unless it has a number for every feature.
  [[nodiscard]] Classifier with_standardisation(const Standardisation& scaling) const {
    return with([&](Parts& copy) { copy.standardisation = scaling; });
  }

  /// Returns the normalised outputs of single draws, n x (N C): column n C + c is that of draw n.
  /// \throws std::invalid_argument if no draws were kept; as `decision_values`.
  template <class Queries>
  [[nodiscard]] Eigen::MatrixXd draw_decision_values(const Queries& inputs) const {
    const char* const function = "Classifier::draw_decision_values";
    detail::check(!parts().draw_numbers.empty(), function, "keep_draws",
                  "was false when the machine was fitted, must be true for single draws");
    return of_classes(scaled(inputs, [&](const auto& queries) {
      return outputs(
          queries, parts().draw_coefficients, body_->draw_weights,
          [&] { return detail::PackedCoefficients(parts().draw_coefficients); }, function);
    }));
  }

  /// Returns the weighted fraction of draws that vote for a class, n x C: for two classes, the
  /// second. The columns of a draw vote together, with the weight of the first. Needs kept draws.
  template <class Queries>
  [[nodiscard]] Eigen::MatrixXd vote_fractions(const Queries& inputs) const {
    const Eigen::MatrixXd outputs = draw_decision_values(inputs);
    Eigen::MatrixXd votes = Eigen::MatrixXd::Zero(outputs.rows(), columns());
    double total = 0;
    for (Eigen::Index begin = 0; begin < outputs.cols(); begin += columns()) {
      const auto first = static_cast<std::size_t>(begin / columns() * parts().coefficients.cols());
      const double weight = parts().draw_weights[first];
      total += weight;
      for (Eigen::Index i = 0; i < outputs.rows(); ++i) {
        const std::ptrdiff_t voted = detail::class_of_outputs(
            columns(), [&](std::ptrdiff_t c) { return outputs(i, begin + c); });
        if (columns() > 1 || voted == 1) votes(i, columns() > 1 ? voted : 0) += weight;
      }
    }
    return votes / total;
  }

  /// Returns the Gibbs error: the weighted mean over draws of the fraction of inputs that a draw
  /// misclassifies. A label that is no class is always wrong. Needs kept draws. \throws
  /// std::invalid_argument unless there is a label per input; as `draw_decision_values`.
  template <class Queries>
  [[nodiscard]] double gibbs_error(const Queries& inputs, std::span<const int> labels) const {
    const Eigen::MatrixXd votes = vote_fractions(inputs);
    detail::check_size("Classifier::gibbs_error", "labels", labels.size(), votes.rows(),
                       "one per input");
    double error = 0;
    for (Eigen::Index i = 0; i < votes.rows(); ++i) {
      const auto found = std::find(classes().begin(), classes().end(), labels[std::size_t(i)]);
      const std::ptrdiff_t place = found - classes().begin();
      if (found == classes().end()) {
        error += 1;
      } else if (columns() == 1) {
        error += place == 1 ? 1 - votes(i, 0) : votes(i, 0);
      } else {
        error += 1 - votes(i, place);
      }
    }
    return error / std::max(1.0, static_cast<double>(votes.rows()));
  }

  [[nodiscard]] const Parts& parts() const noexcept { return body_->parts; }  ///< All parts.
  /// Number of columns of decision values: 1 for two classes, else one per class.
  [[nodiscard]] std::ptrdiff_t columns() const noexcept {
    return parts().one_against_one ? std::ssize(classes()) : parts().coefficients.cols();
  }
  /// Class labels, two or more, ascending.
  [[nodiscard]] const std::vector<int>& classes() const noexcept { return parts().classes; }
  /// Indices of the support in the training set, ascending.
  [[nodiscard]] const std::vector<PointIndex>& support() const noexcept { return parts().support; }
  [[nodiscard]] const RowMatrix<double>& coefficients() const noexcept {
    return parts().coefficients;
  }  ///< Dual coefficients: support points x columns.
  [[nodiscard]] const Kernel& kernel() const noexcept { return parts().kernel; }  ///< The kernel.
  /// Report of the sampler.
  [[nodiscard]] const SamplerReport& report() const noexcept { return notes.report; }
  /// Memory that the fit expected to take.
  [[nodiscard]] const MemoryForecast& forecast() const noexcept { return notes.forecast; }

  /// Returns norm(E[w]) of a column, the agreement of its draws. \throws std::invalid_argument.
  [[nodiscard]] double mean_norm(std::size_t column = 0) const {
    return at(parts().mean_norms, column, "Classifier::mean_norm");
  }
  [[nodiscard]] double training_margin(std::size_t column = 0) const {
    return at(parts().training_margins, column, "Classifier::training_margin");
  }  ///< Returns min_i y_i <w, x_i> / norm(w) of a column.
  [[nodiscard]] std::size_t training_errors(std::size_t column = 0) const {
    return at(parts().training_errors, column, "Classifier::training_errors");
  }  ///< Returns a column's errors under the plain kernel.

  /// Calls visit(worker, begin, rows, values, diagonal) for blocks of inputs, on several threads:
  /// `values` are k(x, x_j) of `rows` inputs from `begin` on with all support points, one row per
  /// input without gaps, and `diagonal` their k(x, x); both are `kernel_scalar_t<Inputs>` or, for
  /// the diagonal, double. `worker` is below the number of threads. It serves other uses of kernel
  /// values with the support. A `PrecomputedKernel` needs `PrecomputedRows`. \throws as
  /// `decision_values`, in the name of `function`.
  template <class Queries, class Visit>
  void visit_values(const Queries& inputs, std::string_view function, Visit&& visit) const {
    scaled(inputs, [&](const auto& queries) {
      values().visit_values(queries, threads(), function, visit);
    });
  }

 private:
  /// Returns a copy with changed parts.
  template <class Change>
  [[nodiscard]] Classifier with(Change&& change) const {
    Parts copy = parts();
    change(copy);
    return Classifier(std::move(copy), notes);
  }

  struct Body {
    explicit Body(Parts from)
        : parts(std::move(from)),
          packed((detail::check_parts(parts), parts.coefficients)),
          values(parts.kernel, parts.bias, parts.inputs, parts.support, parts.origin,
                 parts.source) {}

    detail::MadeFor made_for{};  // First.
    Parts parts;
    detail::PackedCoefficients packed;
    detail::SupportValues<Kernel, Inputs> values;
    detail::KeptWeights weights{};
    detail::KeptWeights draw_weights{};
  };

  /// Returns the outputs for these coefficients. If `has_weights`, computes w once and uses it.
  template <class Queries, class Pack>
  [[nodiscard]] Eigen::MatrixXd outputs(const Queries& queries,
                                        const RowMatrix<double>& coefficients,
                                        const detail::KeptWeights& kept, Pack&& pack,
                                        std::string_view function) const {
    const bool divide = parts().divide_by_self;
    if constexpr (detail::may_be_linear<Kernel, Inputs>) {
      if (values().has_weights(coefficients.cols())) {
        const auto& weights = kept.get([&] { return values().weights(coefficients); });
        return values().outputs(queries, weights, divide, threads(), function);
      }
    }
    const detail::PackedCoefficients& packed = pack();
    Eigen::MatrixXd result = values().outputs(queries, packed, divide, threads(), function);
    if constexpr (std::same_as<Kernel, PrecomputedKernel> && DenseInputs<Queries>) {
      if (divide && parts().mean_diagonal > 0) result /= std::sqrt(parts().mean_diagonal);
    }
    return result;
  }

  /// Returns decision values of classes from the outputs of the columns of coefficients.
  [[nodiscard]] Eigen::MatrixXd of_classes(Eigen::MatrixXd outputs) const {
    if (!parts().one_against_one) return outputs;
    return detail::outputs_of_classes(outputs, classes().size());
  }

  /// Calls use(queries), standardised if the training set was. All queries pass here.
  template <class Queries, class Use>
  decltype(auto) scaled(const Queries& inputs, Use&& use) const {
    static_assert(detail::SameKind<Queries, Inputs> || std::same_as<Kernel, PrecomputedKernel>,
                  "queries are of the training set's kind: dense rows of numbers, sparse rows "
                  "(row-major), or a random-access range, such as std::vector");
    body_->made_for.check("Classifier");
    if constexpr (detail::ScalableInputs<Inputs> && !std::same_as<Kernel, PrecomputedKernel>) {
      if (parts().standardisation) {
        return use(
            parts().standardisation->template apply<Queries, typename Inputs::Scalar>(inputs));
      }
    }
    return use(inputs);
  }

  [[nodiscard]] const auto& values() const noexcept { return body_->values; }
  [[nodiscard]] unsigned threads() const { return detail::thread_count(parts().threads); }

  template <class T>
  [[nodiscard]] static T at(const std::vector<T>& list, std::size_t column,
                            std::string_view function) {
    detail::check(column < list.size(), function, "column", "is ", column, ", must be below ",
                  list.size());
    return list[column];
  }

  /// Shared by copies, so that they are assignable even if the kernel, a lambda, is not.
  std::shared_ptr<const Body> body_;
};

// Not inline, so that it is not compiled again where bpm::compiled has it.
template <class Kernel, InputSet Inputs>
template <class Queries>
Eigen::MatrixXd Classifier<Kernel, Inputs>::decision_values(const Queries& inputs) const {
  return of_classes(scaled(inputs, [&](const auto& queries) {
    return outputs(
        queries, parts().coefficients, body_->weights, [&] { return std::cref(body_->packed); },
        "Classifier::decision_values");
  }));
}

}}  // namespace bpm
