// SPDX-License-Identifier: MIT
// Everything that computes kernel values: what they take is shared by samplers, kinds of rows, fits
// and predictions, and is most of the work of compiling.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "bpm/core/errors.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/one_vs_one.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/selection/cross_validate.hpp"
#include "bpm/storage/training_file.hpp"
#include "common/checkpoint.hpp"
#include "common/choose_setting.hpp"
#include "common/program.hpp"
#include "fit.hpp"
#include "model.hpp"
#include "posterior.hpp"

namespace bpm_examples {

namespace {

// --- Fits ----------------------------------------------------------------------------------------

template <class Sampler>
using Machine = bpm::OneVsRest<bpm::RuntimeKernel, Sampler>;

/// Refuses what another run has left, unless this one is to go on with it.
void check_checkpoint(const FitTask& task) {
  if (task.checkpoint.empty()) return;
  if (std::filesystem::exists(training_file(task.checkpoint)) && !task.resume) {
    throw UsageError("--checkpoint: '" + task.checkpoint.string() +
                     "' holds a training: go on with --resume, or name another folder");
  }
}

/// Fits the machine, or pairs of classes with it, or in parts where a folder keeps its training.
/// The first part is of as many draws as threads can make at once; of a chain, which runs alone and
/// whose parts factor the kernel matrix again, a tenth of all.
template <class Sampler, class I>
[[nodiscard]] auto fit_one(const Machine<Sampler>& machine, bool pairs, const FitTask& task,
                           const I& inputs, std::span<const int> labels, const Watch& watch) {
  if (pairs) return bpm::OneVsOne(machine.machine()).fit(inputs, labels, watch);
  if (task.checkpoint.empty()) return machine.fit(inputs, labels, watch);
  const auto draws = std::optional<std::uint64_t>(machine.sampler().draws).value();
  const std::uint64_t first =
      std::same_as<Sampler, bpm::PermutedPerceptron> ? task.settings.threads : draws / 10;
  return fit_by_parts(
      machine, inputs, labels, {.draws = draws, .first = std::max<std::uint64_t>(1, first)},
      read_training(task.checkpoint), watch,
      [&](const auto& training) { bpm::save(training, training_file(task.checkpoint)); });
}

/// The classifier of the machine that is given, or chosen.
template <class Sampler, class I>
[[nodiscard]] FitOutcome fit_or_choose(const Sampler& sampler, const FitTask& task, const I& inputs,
                                       std::span<const int> labels, const Watch& watch) {
  check_checkpoint(task);
  FitOutcome outcome;
  // Where no candidate is consistent, the fit takes the width that was tried first, or the linear
  // kernel that stands behind Gaussians.
  const std::size_t usual = task.narrower > 0 ? task.narrower : task.kernels.size() - 1;
  Machine<Sampler> machine(bpm::BayesPointMachine(task.kernels[usual], sampler,
                                                  usual_boundary(labels.size()), task.settings));
  std::optional<bpm::Choice<Machine<Sampler>>> choice;
  if (task.has_candidates()) {
    choice = choose_setting(machine, task, inputs, labels, watch, bpm::StopToken());
  }
  if (choice) {
    machine = choice->machine;
    const bpm::ChoiceCandidate& chosen = choice->chosen();
    if (!task.biases.empty()) outcome.bias = chosen.bias;
    outcome.one_against_one = chosen.one_against_one;
    if (task.choosing) {
      const bpm::BoundaryChoice& found = choice->boundary;
      const std::optional<std::uint64_t> draws = sampler.draws;
      outcome.out_of_fold = {chosen.error,
                             chosen.loss,
                             found.slope * found.slope_factor(labels.size(), draws.value()),
                             found.offsets,
                             found.points,
                             true,
                             found.fold_rows};
      outcome.best = choice->best;
      outcome.moved_by = choice->moved_by;
      outcome.candidates = std::move(choice->candidates);
    }
  }
  if (task.folds > 0 && !task.choosing) {
    bpm::FitSettings settings = task.settings;  // Every fold chooses its own boundary.
    settings.bias = machine.settings().bias;
    const bpm::BayesPointMachine judged(machine.kernel(), sampler, machine.boundary(), settings);
    const bpm::OutOfFold left_out =
        outcome.one_against_one
            ? bpm::cross_validate(bpm::OneVsOne(judged), inputs, labels, task.folds, watch)
            : bpm::cross_validate(bpm::OneVsRest(judged), inputs, labels, task.folds, watch);
    const bool weighted = task.settings.soft_boundary.has_class_weights();
    const bpm::FittedSlope slope = left_out.slope(weighted || left_out.classes.size() > 2);
    // Offsets move no labels of a weighted boundary.
    outcome.out_of_fold = {left_out.error(weighted ? bpm::FittedSlope{} : slope), slope.loss,
                           slope.slope, slope.offsets, left_out.points.size()};
  }
  if (task.fit) {
    outcome.model = Model{fit_one(machine, outcome.one_against_one, task, inputs, labels, watch)};
  }
  return outcome;
}

using Doubles = bpm::RowMatrix<double>;

template <class Sampler>
[[nodiscard]] FitOutcome fit_chains(Sampler sampler, const FitTask& task, const Doubles& inputs,
                                    std::span<const int> labels, const Watch& watch) {
  sampler.draws = task.draws;
  return fit_or_choose(sampler, task, inputs, labels, watch);
}

/// Of all kernels and boundaries the one with the largest evidence.
[[nodiscard]] FitOutcome fit_posterior(const FitTask& task, const Doubles& inputs,
                                       std::span<const int> labels, const Watch& watch) {
  using Kernel = bpm::RuntimeKernel;
  const auto fit = [&](const Kernel& kernel, const bpm::FitSettings& settings) {
    return bpm::OneVsRest<Kernel, bpm::ExpectationPropagation>(
               bpm::BayesPointMachine(kernel, bpm::ExpectationPropagation{}, settings))
        .fit(inputs, labels, watch);
  };
  FitOutcome outcome;
  std::shared_ptr<const PosteriorModel> best;
  std::vector<double> boundaries = task.relative_lambdas;
  if (boundaries.empty()) boundaries.push_back(-1);  // Chosen by the fit.
  for (std::size_t k = 0; k < task.kernels.size(); ++k) {
    for (const double boundary : boundaries) {
      bpm::FitSettings settings = task.settings;
      if (boundary >= 0) settings.soft_boundary = settings.soft_boundary.with_factor(boundary);
      bpm::ChoiceCandidate candidate{.kernel = k, .relative_lambda = std::max(0.0, boundary)};
      try {
        const auto found =
            std::make_shared<const PosteriorModel>(PosteriorModel{fit(task.kernels[k], settings)});
        const auto& classifier = found->classifier;
        candidate.consistent = true;
        candidate.loss = 0;
        for (std::ptrdiff_t c = 0; c < classifier.columns(); ++c) {
          candidate.loss -= classifier.log_evidence(static_cast<std::size_t>(c)) /
                            static_cast<double>(inputs.rows());
        }
        if (const auto& chosen = classifier.notes.boundary) {
          candidate.relative_lambda = chosen->relative_lambda;
        }
        if (!best || candidate.loss < outcome.candidates[outcome.best].loss) {
          best = found;
          outcome.best = outcome.candidates.size();
        }
      } catch (const bpm::NotSeparable&) {
        if (!task.choosing) throw;
      } catch (const bpm::NotConverged&) {
        if (!task.choosing) throw;
      }
      outcome.candidates.push_back(candidate);
    }
  }
  if (!best) {
    throw bpm::NotSeparable(
        "choose: no kernel and soft boundary found a posterior; add wider "
        "ones, or leave --soft-boundary automatic");
  }
  if (task.fit) outcome.model = Model{bpm::Classifier(best->classifier), best};
  if (!task.choosing) outcome.candidates.clear();
  return outcome;
}

// --- Queries -------------------------------------------------------------------------------------

/// The rows as queries to a classifier of such support inputs.
template <class Support, class Rows, class Ask>
auto with_queries(const Rows& rows, const Ask& ask) {
  using Scalar = typename Support::Scalar;
  constexpr bool sparse = std::same_as<Support, bpm::SparseRowMatrix<Scalar>>;
  constexpr bool sparse_rows = std::same_as<Rows, bpm::SparseRowMatrix<double>>;
  if constexpr (std::same_as<Rows, Support>) {
    return ask(rows);
  } else if constexpr (sparse && sparse_rows) {
    const Support cast = rows.template cast<Scalar>();
    return ask(cast);
  } else if constexpr (sparse) {
    const bpm::RowMatrix<Scalar> numbers = rows.template cast<Scalar>();
    const Support cast = numbers.sparseView();
    return ask(cast);
  } else if constexpr (sparse_rows) {
    const bpm::RowMatrix<double> dense(rows);
    return with_queries<Support>(dense, ask);
  } else if constexpr (std::same_as<Scalar, std::uint8_t>) {
    if (bpm::are_bytes(rows)) {
      const Support bytes = bpm::to_bytes(rows);
      return ask(bytes);
    }
    const bpm::RowMatrix<float> numbers = rows.template cast<float>();
    return ask(numbers);
  } else {
    const Support cast = rows.template cast<Scalar>();
    return ask(cast);
  }
}

template <class Classifier>
using inputs_of = std::remove_cvref_t<decltype(std::declval<Classifier>().parts().inputs)>;

/// ask(classifier, queries) of the model's classifier, and the rows as it takes them.
template <class Ask>
[[nodiscard]] Eigen::MatrixXd ask_model(const Model& model, const Inputs& inputs, const Ask& ask) {
  return std::visit(
      [&]<class C>(const C& classifier) {
        return std::visit(
            [&](const auto& rows) -> Eigen::MatrixXd {
              return with_queries<inputs_of<C>>(
                  rows, [&](const auto& queries) { return ask(classifier, queries); });
            },
            inputs);
      },
      model.classifier);
}

}  // namespace

FitOutcome fit_machine(const FitTask& task, const Inputs& inputs, std::span<const int> labels,
                       const Watch& watch) {
  return std::visit(
      [&]<class Rows>(const Rows& rows) {
        if constexpr (std::same_as<Rows, Doubles>) {
          if (task.sampler == "billiard") {
            return fit_chains(bpm::Billiard{}, task, rows, labels, watch);
          }
          if (task.sampler == "gibbs") {
            return fit_chains(bpm::KernelGibbs{}, task, rows, labels, watch);
          }
          if (task.sampler == "ep") return fit_posterior(task, rows, labels, watch);
        }
        return fit_or_choose(bpm::PermutedPerceptron{.draws = task.draws}, task, rows, labels,
                             watch);
      },
      inputs);
}

Eigen::MatrixXd decision_values(const Model& model, const Inputs& inputs) {
  return ask_model(model, inputs, [](const auto& classifier, const auto& queries) {
    return classifier.decision_values(queries);
  });
}

Eigen::MatrixXd class_probabilities(const Model& model, const Inputs& inputs,
                                    const Eigen::MatrixXd& values) {
  Eigen::MatrixXd found;
  if (model.posterior) {
    found = model.posterior->classifier.predict_probability(dense_numbers(inputs));
  } else if (facts_of(model).slope > 0) {
    found = std::visit([&](const auto& classifier) { return classifier.probabilities(values); },
                       model.classifier);
  }
  if (found.cols() != 1) return found;
  Eigen::MatrixXd both(found.rows(), 2);
  both.col(0) = 1 - found.col(0).array();
  both.col(1) = found.col(0);
  return both;
}

}  // namespace bpm_examples
