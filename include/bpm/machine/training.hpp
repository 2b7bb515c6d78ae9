// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/strategy.hpp"
#include "bpm/machine/train.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET {

template <class Kernel, class Sampler, class Boundary>
class BayesPointMachine;

namespace detail {

template <class Sampler>
struct Fitting;

/// Search of a fit for its soft boundary, and the probabilities that the search implies: none for a
/// given boundary. `AutomaticBoundary` specialises it.
template <class Boundary>
struct BoundarySearch {
  static_assert(!std::same_as<Boundary, AutomaticBoundary>,
                "the search for a soft boundary is in bpm/selection/automatic_boundary.hpp: "
                "include it, or bpm/machine.hpp, or give a boundary: BayesPointMachine(kernel, "
                "SoftBoundary::relative(0.1))");
  static constexpr bool searches = false;
};

/// Checks that a machine whose boundary is given has a lambda. \throws std::invalid_argument.
inline void check_given(const FitSettings& settings, std::string_view function) {
  check(!settings.soft_boundary.is_automatic(), function, "boundary",
        "is automatic, must be a lambda: a machine without a boundary chooses it");
}

/// Returns the boundary that a fit of this machine chooses for kernel and inputs, or begins with;
/// none if it is given, or if the sampler needs none. `pairs`: of pairs of classes. \throws as
/// `begun_choice`.
template <class Kernel, class Sampler, class Boundary, class K, class I>
[[nodiscard]] std::optional<BoundaryChoice> chosen_boundary(
    const BayesPointMachine<Kernel, Sampler, Boundary>& machine, const K& kernel, const I& inputs,
    const std::vector<int>& classes, std::span<const int> labels, const RunControl& control,
    std::string_view function, bool pairs = false) {
  const FitSettings& settings = machine.settings();
  std::optional<BoundaryChoice> begun;
  if (settings.boundary_choice) {
    begun =
        begun_choice(*settings.boundary_choice, Sampler::traits.takes_label_noise, function, pairs);
  }
  if constexpr (BoundarySearch<Boundary>::searches) {
    if (!chooses_boundary(machine.sampler(), settings)) return std::nullopt;
    if (begun) return begun;
    return BoundarySearch<Boundary>::choose(machine.boundary(), kernel, machine.sampler(), settings,
                                            inputs, classes, labels, control, function, pairs);
  } else {
    check_given(settings, function);
    return std::nullopt;
  }
}

/// Returns the forecast for a fit of this machine. `pairs`: number of pairs of classes to fit; 0: a
/// class against the rest. \throws as `forecast_memory`.
template <class Kernel, class Sampler, class Boundary, InputSet I>
[[nodiscard]] MemoryForecast forecast_of(
    const BayesPointMachine<Kernel, Sampler, Boundary>& machine, const I& inputs,
    std::size_t problems, std::string_view function, std::size_t pairs = 0) {
  const auto& demand = Fitting<Sampler>::demand(machine.sampler());
  const FitSettings& settings = machine.settings();
  MemoryQuestion ask = question_of(machine.kernel(), inputs);
  ask.problems = problems;
  ask.pairs = pairs;
  if constexpr (BoundarySearch<Boundary>::searches) {
    if (chooses_boundary(demand, settings) && !settings.boundary_choice) {
      ask.choosing_bytes =
          BoundarySearch<Boundary>::template bytes<std::remove_cvref_t<decltype(demand)>>(
              machine.boundary(), static_cast<std::size_t>(ask.points), problems);
    }
  }
  return forecast_memory(ask, demand, settings, function);
}

/// Storage of trainings in files: storage/training_file.hpp.
struct StoredTraining;

/// Returns the parts given by kernel, inputs and means, with the margins and errors of the training
/// set; the caller adds bias, slope and threads. `problems`, `more`: see `set_means`.
template <class Kernel, InputSet I>
[[nodiscard]] ClassifierParts<Kernel, owned_inputs_t<I>> parts_of_means(
    const Kernel& kernel, const I& inputs, const std::vector<int>& classes,
    std::span<const DrawMean> means, const Subproblems* problems = nullptr,
    std::span<const PointIndex> more = {}) {
  ClassifierParts<Kernel, owned_inputs_t<I>> parts{.kernel = kernel,
                                                   .inputs = {},
                                                   .support = {},
                                                   .coefficients = {},
                                                   .classes = classes,
                                                   .origin = origin_of(kernel, inputs)};
  set_means(numbers_of(parts), means, problems, more);
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) {
    parts.inputs.resize(0, input_count(inputs));
    parts.mean_diagonal = inputs.diagonal().template cast<double>().mean();
  } else {
    parts.inputs = select_inputs(inputs, parts.support);
  }
  return parts;
}

/// Returns the notes of a fit that ends now, with warnings about inputs and chains behind these.
template <class Parts, InputSet I>
[[nodiscard]] Notes notes_of_fit(const FitSettings& settings, const Parts& parts, const I& inputs,
                                 std::optional<BoundaryChoice> boundary,
                                 const MemoryForecast& forecast, SamplerReport report,
                                 std::vector<FitWarning> warnings, double seconds) {
  Notes notes;
  notes.seed = settings.seed;
  notes.chosen = settings.chosen;
  notes.boundary = std::move(boundary);
  notes.forecast = forecast;
  notes.report = std::move(report);
  notes.warnings = std::move(warnings);
  warn_of_width(parts.kernel, inputs, notes.warnings);
  warn_of_units(parts.kernel, inputs, parts.origin, notes.warnings);
  warn_of_chains(notes.report, notes.warnings);
  notes.training_seconds = seconds;
  return notes;
}

/// Returns the seconds since then.
[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Refers to an lvalue, takes over an rvalue.
template <class I>
[[nodiscard]] auto keep_or_refer(I&& inputs) {
  using Given = std::remove_cvref_t<I>;
  if constexpr (std::is_lvalue_reference_v<I>) {
    return std::shared_ptr<const Given>(std::shared_ptr<const void>{}, &inputs);
  } else if constexpr (DenseInputs<Given> || SparseInputs<Given>) {
    return std::make_shared<const typename Given::PlainObject>(std::move(inputs));
  } else {
    return std::make_shared<const Given>(std::move(inputs));
  }
}

}  // namespace detail

/// A fit that can go on: it has sums over draws and states of chains, which a classifier does not
/// need. `BayesPointMachine::train` and `OneVsRest::train` return it.
///
///     auto training = machine.train(inputs, labels);
///     training.add_draws(5);
///     const auto classifier = training.classifier();
///
/// It refers to inputs and labels that were lvalues, which must outlive it, unchanged; it keeps
/// rvalues. Memory: 2 m doubles per binary subproblem and the sampler's state.
template <class Kernel, class Sampler, InputSet Inputs, class Boundary = AutomaticBoundary>
class Training {
  using Machine = BayesPointMachine<Kernel, Sampler, Boundary>;

 public:
  /// `classes`: those of the labels, ascending. \throws as `BayesPointMachine::fit`.
  Training(const Machine& machine, std::shared_ptr<const Inputs> inputs, detail::LabelList labels,
           const std::vector<int>& classes, const RunControl& given_control,
           std::string_view function)
      : Training(machine, std::move(inputs), std::move(labels), classes, function) {
    const auto start = std::chrono::steady_clock::now();
    const RunControl control = detail::lasting_control<Sampler>(given_control);
    const std::vector<std::uint64_t> hashes = detail::input_hashes(*inputs_);
    const std::span<const int> all = fit_.labels.list();
    fingerprint_ = detail::fingerprint(hashes, all);
    if (auto chosen = detail::chosen_boundary(machine, detail::with_bias(kernel_, bias_), *inputs_,
                                              fit_.problems.classes, all,
                                              detail::without_stop<Sampler>(control), function)) {
      fit_.take_boundary(*std::move(chosen));
    }
    std::vector<std::vector<PointIndex>> equal;
    if (!detail::admits_training_errors(fit_.sampler)) {
      equal = detail::equal_groups<Kernel>(*inputs_, hashes);
    }
    auto gram = kernel_values();
    const std::string why = detail::train(gram, equal, fit_, control, function);
    detail::ensure<NotSeparable>(why.empty(), function, ": ", why);
    fit_.state.seconds += detail::seconds_since(start);
  }

  /// Makes `draws` more draws per subproblem and adds them: 5 draws and 5 more equal 10 at once,
  /// bit for bit. (An automatic lambda stays as it was chosen and raised: a draw that would have
  /// raised it further throws.) If it throws, as `fit` does or because inputs or labels have
  /// changed (checked; for inputs that cannot be hashed, only number and labels), nothing changes.
  template <Observer O = detail::IgnoreProgress>
  void add_draws(std::uint64_t draws, O&& observer = {}, StopToken stop = {}) {
    const char* const function = "Training::add_draws";
    made_for_.check("Training");
    const auto points = fit_.state.means[0].size();
    detail::check(draws >= 1, function, "draws", "is ", draws, ", must be 1 or more");
    detail::check_size(function, "inputs", detail::input_count(*inputs_), points,
                       "as in the training set");
    static_cast<void>(unchanged_hashes(function));
    const auto start = std::chrono::steady_clock::now();
    detail::TrainingState<Sampler> next = fit_.state;
    auto gram = kernel_values();
    // The fit has looked for equal inputs, and they have not changed.
    const std::string why = detail::add_draws(gram, {}, fit_.sampler.with_draws(draws), fit_, next,
                                              detail::lasting_control<Sampler>(detail::run_control(
                                                  fit_.settings, observer, std::move(stop))),
                                              function);
    detail::ensure<NotSeparable>(why.empty(), function, ": ", why);
    next.seconds += detail::seconds_since(start);
    fit_.state = std::move(next);
  }

  /// Returns the Bayes point of all draws so far. `scaling`: of inputs that have been standardised,
  /// which the classifier then does to its queries. Cost: a pass over the sums, and copies of the
  /// inputs that have a coefficient.
  [[nodiscard]] Classifier<Kernel, detail::owned_inputs_t<Inputs>> classifier(
      std::optional<Standardisation> scaling = {}) const {
    made_for_.check("Training");
    auto parts = detail::parts_of_means(kernel_, *inputs_, fit_.problems.classes, fit_.state.means,
                                        &fit_.problems);
    parts.bias = bias_;
    parts.threads = fit_.settings.threads;
    parts.standardisation = std::move(scaling);
    if constexpr (detail::BoundarySearch<Boundary>::searches) {
      if (fit_.boundary) {
        typename detail::BoundarySearch<Boundary>::Probabilities found(
            *fit_.boundary, fit_.given_boundary, fit_.state.means, fit_.labels.list(),
            fit_.problems.classes);
        parts.slope = found.slope;
        parts.offsets = std::move(found.offsets);
        parts.probability_rows = found.rows;
      }
    }
    const bool weighted = fit_.given_boundary.has_class_weights();
    parts.offsets_move_labels = !weighted;
    std::vector<double> shifts;  // Added to outputs for labels.
    if (!weighted) {
      for (const double offset : parts.offsets) shifts.push_back(offset / parts.slope);
    }
    std::optional<double> draw_errors;
    if (const auto draws = static_cast<double>(fit_.state.draws_seen); draws > 0) {
      const auto problems = static_cast<double>(fit_.problems.size());
      draw_errors = problems * static_cast<double>(fit_.state.draw_errors) / draws;
    }
    Notes notes = detail::notes_of_fit(
        fit_.settings, parts, *inputs_, fit_.boundary, fit_.forecast, fit_.state.report,
        detail::fit_warnings(fit_.problems, fit_.state.means, parts.training_errors, draw_errors,
                             fit_.boundary, fit_.labels.list(), shifts, weighted),
        fit_.state.seconds);
    notes.training_points = fit_.labels.list().size();
    return Classifier(std::move(parts), std::move(notes));
  }

  /// Report of the sampler for all runs, with the end of the last one.
  [[nodiscard]] const SamplerReport& report() const noexcept { return fit_.state.report; }

 private:
  friend struct detail::StoredTraining;

  /// Prepares all before the first run.
  Training(const Machine& machine, std::shared_ptr<const Inputs> inputs, detail::LabelList labels,
           const std::vector<int>& classes, std::string_view function)
      : kernel_(machine.kernel()),
        inputs_(std::move(inputs)),
        fit_(machine.sampler(), machine.settings(), std::move(labels), classes,
             checked_forecast(machine, classes.size(), function)),
        bias_(detail::absolute_bias(kernel_, machine.settings(), *inputs_, function)) {}

  /// Returns the forecast of the memory, after checks of sampler and inputs.
  [[nodiscard]] MemoryForecast checked_forecast(const Machine& machine, std::size_t classes,
                                                std::string_view function) const {
    machine.sampler().check_settings();  // Before a kernel matrix is made for nothing.
    detail::check_inputs(*inputs_, function);
    return detail::forecast_of(machine, *inputs_, detail::subproblem_count(classes), function);
  }

  /// Returns the inputs' hashes. \throws std::invalid_argument if inputs or labels have changed.
  [[nodiscard]] std::vector<std::uint64_t> unchanged_hashes(std::string_view function) const {
    std::vector<std::uint64_t> hashes = detail::input_hashes(*inputs_);
    detail::check(detail::fingerprint(hashes, fit_.labels.list()) == fingerprint_, function,
                  "inputs", "or labels differ from the training set, must be the same");
    return hashes;
  }

  /// Returns the values of the kernel with its bias, which refer to the inputs.
  [[nodiscard]] auto kernel_values() const {
    return detail::make_gram(detail::with_bias(kernel_, bias_), *inputs_, fit_.forecast.strategy);
  }

  detail::MadeFor made_for_;  // First.
  Kernel kernel_;
  std::shared_ptr<const Inputs> inputs_;
  detail::DrawFit<Sampler> fit_;
  double bias_ = 0;  ///< Bias in units of kernel values.
  std::uint64_t fingerprint_ = 0;
};

namespace detail {

/// Detects a kernel's operator(), for inputs of any type: a second one makes the name ambiguous.
struct CalledWithNothing {
  void operator()() const;
};
template <class Kernel>
struct CalledWithNothingToo : Kernel, CalledWithNothing {};
template <class Kernel>
concept CanBeKernel =
    std::same_as<Kernel, PrecomputedKernel> || InnerProductKernel<Kernel> ||
    ManhattanKernel<Kernel> || std::is_function_v<std::remove_pointer_t<Kernel>> ||
    (std::is_class_v<Kernel> &&
     (std::is_final_v<Kernel> || !requires { &CalledWithNothingToo<Kernel>::operator(); }));

template <class Kernel, class I>
concept TrainableOn =
    (DenseInputs<I> && std::same_as<Kernel, PrecomputedKernel>) || KernelOn<Kernel, I>;

/// The inputs of a training set; of others a sentence.
template <class Kernel, class I>
struct TrainingInputs {
  static_assert(TrainableOn<Kernel, I>,
                "the kernel is no function of two of these inputs: inputs are dense rows of "
                "numbers, sparse rows (row-major), or what is in a random-access range, such as "
                "std::vector, for a kernel of two of its elements; a PrecomputedKernel takes the "
                "dense matrix of its values");
  using Owned = owned_inputs_t<I>;
};

/// Type in which a classifier of this kernel keeps inputs of its training set.
template <class Kernel, class I>
using training_inputs_t = typename TrainingInputs<Kernel, I>::Owned;

/// Starts the training of a machine.
template <class Kernel, class Sampler, class Boundary, class I, class O>
[[nodiscard]] auto start_training(const BayesPointMachine<Kernel, Sampler, Boundary>& machine,
                                  bool any_number, I&& inputs, LabelList labels, O& observer,
                                  StopToken stop, std::string_view function) {
  [[maybe_unused]] constexpr TrainingInputs<Kernel, std::remove_cvref_t<I>> checked{};
  const std::vector<int> classes =
      check_labels(input_count(inputs), labels.list(), function, any_number);
  return Training(machine, keep_or_refer(std::forward<I>(inputs)), std::move(labels), classes,
                  run_control(machine.settings(), observer, std::move(stop)), function);
}

}  // namespace detail
}}  // namespace bpm
