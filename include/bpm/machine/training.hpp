// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/automatic_boundary.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/machine/fingerprint.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/fit_steps.hpp"
#include "bpm/machine/fit_warnings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/strategy.hpp"
#include "bpm/samplers/sampler.hpp"

namespace bpm { inline namespace BPM_TARGET {

template <class Kernel, class Sampler>
class BayesPointMachine;

namespace detail {

/// Storage of trainings in files: storage/training_file.hpp.
struct StoredTraining;

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

/// Labels in any contiguous list: refers to an lvalue or a view, copies others.
class LabelList {
 public:
  template <class L>
    requires std::convertible_to<L, std::span<const int>>
  LabelList(L&& labels) {  // NOLINT: stands for a parameter of type span.
    if constexpr (std::is_lvalue_reference_v<L> || std::ranges::borrowed_range<L>) {
      labels_ = labels;
    } else {
      kept_ = std::make_shared<const std::vector<int>>(labels.begin(), labels.end());
      labels_ = *kept_;
    }
  }
  [[nodiscard]] std::span<const int> list() const noexcept { return labels_; }

 private:
  std::shared_ptr<const std::vector<int>> kept_;
  std::span<const int> labels_;
};

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
template <class Kernel, class Sampler, InputSet Inputs>
class Training {
 public:
  /// `classes`: those of the labels, ascending. \throws as `BayesPointMachine::fit`.
  Training(const Kernel& kernel, const Sampler& sampler, const FitSettings& settings,
           std::shared_ptr<const Inputs> inputs, detail::LabelList labels, std::vector<int> classes,
           const RunControl& given_control, std::string_view function)
      : Training(kernel, sampler, settings, std::move(inputs), std::move(labels),
                 std::move(classes), function) {
    const RunControl control = detail::lasting_control<Sampler>(given_control);
    const std::vector<std::uint64_t> hashes = detail::input_hashes(*inputs_);
    fingerprint_ = detail::fingerprint(hashes, labels_.list());
    if (detail::chooses_boundary(sampler, settings)) {
      run_automatic(hashes, control, function);
    } else {
      begin();
      run(sampler_, hashes, control, state_, function);
    }
  }

  /// Makes `draws` more draws per subproblem and adds them: 5 draws and 5 more equal 10 at once,
  /// bit for bit. (An automatic lambda stays as it was chosen and raised: a draw that would have
  /// raised it further throws.) If it throws, as `fit` does or because inputs or labels have
  /// changed (checked; for inputs that cannot be hashed, only number and labels), nothing changes.
  template <Observer O = detail::IgnoreProgress>
  void add_draws(std::uint64_t draws, O&& observer = {}, StopToken stop = {}) {
    const char* const function = "Training::add_draws";
    made_for_.check("Training");
    const auto points = state_.means[0].size();
    detail::check(draws >= 1, function, "draws", "is ", draws, ", must be 1 or more");
    detail::check_size(function, "inputs", detail::input_count(*inputs_), points,
                       "as in the training set");
    const std::vector<std::uint64_t> hashes = unchanged_hashes(function);
    detail::TrainingState<Sampler> next = state_;
    run(sampler_.with_draws(draws), hashes,
        detail::lasting_control<Sampler>(detail::run_control(settings_, observer, std::move(stop))),
        next, function);
    state_ = std::move(next);
  }

  /// Returns the Bayes point of all draws so far. Cost: a pass over the sums, and copies of the
  /// inputs that have a coefficient.
  [[nodiscard]] Classifier<Kernel, detail::owned_inputs_t<Inputs>> classifier() const {
    made_for_.check("Training");
    auto parts = detail::parts_of_means(kernel_, *inputs_, problems_, state_.means);
    parts.bias = bias_;
    parts.threads = settings_.threads;
    parts.seed = settings_.seed;
    parts.training_points = labels_.list().size();
    parts.chosen = settings_.chosen;
    parts.boundary = boundary_;
    if (boundary_) {
      detail::FitProbabilities found(*boundary_, given_boundary_, state_.means, labels_.list(),
                                     problems_.classes);
      parts.slope = found.slope;
      parts.offsets = std::move(found.offsets);
      parts.probability_rows = found.rows;
    }
    const bool weighted = given_boundary_.has_class_weights();
    parts.offsets_move_labels = !weighted;
    std::vector<double> shifts;  // Added to outputs for labels.
    if (!weighted) {
      for (const double offset : parts.offsets) shifts.push_back(offset / parts.slope);
    }
    parts.report = state_.report;
    parts.forecast = forecast_;
    std::optional<double> draw_errors;
    if (const auto draws = static_cast<double>(state_.draws_seen); draws > 0) {
      const auto problems = static_cast<double>(problems_.size());
      draw_errors = problems * static_cast<double>(state_.draw_errors) / draws;
    }
    parts.warnings = detail::fit_warnings(problems_, state_.means, parts.training_errors,
                                          draw_errors, boundary_, labels_.list(), shifts, weighted);
    detail::warn_of_inputs(kernel_, *inputs_, parts.origin, parts.warnings);
    detail::warn_of_chains(parts.report, parts.warnings);
    parts.training_seconds = state_.seconds;
    return Classifier(std::move(parts));
  }

  /// Report of the sampler for all runs, with the end of the last one.
  [[nodiscard]] const SamplerReport& report() const noexcept { return state_.report; }

 private:
  friend struct detail::StoredTraining;

  /// Prepares all before the first run.
  Training(const Kernel& kernel, const Sampler& sampler, const FitSettings& settings,
           std::shared_ptr<const Inputs> inputs, detail::LabelList labels, std::vector<int> classes,
           std::string_view function)
      : given_sampler_(sampler),
        given_boundary_(settings.soft_boundary),
        kernel_(kernel),
        sampler_(sampler),
        settings_(settings),
        inputs_(std::move(inputs)),
        labels_(std::move(labels)) {
    sampler.check_settings();  // Before a kernel matrix is made for nothing.
    detail::check_inputs(*inputs_, function);
    const std::size_t count = detail::subproblem_count(classes.size());
    detail::check(count == 1 || !settings.one_against_one, function, "one_against_one",
                  "is true, must be false: pairs of classes are for OneVsRest::fit alone");
    forecast_ = detail::forecast_memory(kernel_, sampler, settings, *inputs_, count, function);
    problems_ = detail::Subproblems(std::move(classes), labels_.list());
    bias_ = detail::absolute_bias(kernel_, settings_, *inputs_, function);
    if (settings.soft_boundary.is_automatic() && !detail::chooses_boundary(sampler, settings)) {
      settings_.soft_boundary = SoftBoundary::hard();
    }
  }

  /// Returns the inputs' hashes. \throws std::invalid_argument if inputs or labels have changed.
  [[nodiscard]] std::vector<std::uint64_t> unchanged_hashes(std::string_view function) const {
    std::vector<std::uint64_t> hashes = detail::input_hashes(*inputs_);
    detail::check(detail::fingerprint(hashes, labels_.list()) == fingerprint_, function, "inputs",
                  "or labels differ from the training set, must be the same");
    return hashes;
  }

  /// Sets the state without draws.
  void begin() {
    state_ = detail::no_draws<Sampler>(detail::input_count(*inputs_), problems_.size(),
                                       settings_.seed, settings_.keep_draws);
  }

  /// Chooses lambda or label noise, and a larger one while that is not enough.
  void run_automatic(std::span<const std::uint64_t> hashes, const RunControl& control,
                     std::string_view function) {
    const auto start = std::chrono::steady_clock::now();
    boundary_ = detail::fit_with_automatic_boundary(
        settings_, Sampler::traits.takes_label_noise,
        [&] {
          return detail::choose_boundary(detail::with_bias(kernel_, bias_), sampler_, settings_,
                                         *inputs_, problems_.classes, labels_.list(),
                                         detail::before_meeting<Sampler>(control), function);
        },
        [&](const BoundaryChoice& choice) {
          take_boundary(choice);
          problems_.lambda.reset();
          begin();
          run(sampler_, hashes, control, state_, function);
        },
        function);
    state_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void take_boundary(BoundaryChoice choice) {
    boundary_ = std::move(choice);
    settings_.soft_boundary = settings_.soft_boundary.with_factor(boundary_->relative_lambda);
    sampler_ = detail::sampler_at(sampler_, *boundary_);
  }

  /// Runs the sampler. \throws as `fit_run`.
  void run(const Sampler& sampler, std::span<const std::uint64_t> hashes, RunControl control,
           detail::TrainingState<Sampler>& state, std::string_view function) {
    const auto start = std::chrono::steady_clock::now();
    if (boundary_) control.chosen_lambda = boundary_->relative_lambda;
    if (boundary_) control.left_out_draws = detail::left_out_draws(labels_.list().size());
    state.report.append(detail::fit_run(
        detail::with_bias(kernel_, bias_), *inputs_, hashes, sampler, forecast_, std::move(control),
        settings_.soft_boundary, labels_.list(), problems_, state, function, [](const auto&) {}));
    state.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  detail::MadeFor made_for_;  // First.
  Sampler given_sampler_;
  SoftBoundary given_boundary_;
  Kernel kernel_;
  Sampler sampler_;  ///< Sampler with the chosen boundary, as the settings.
  FitSettings settings_;
  std::shared_ptr<const Inputs> inputs_;
  detail::LabelList labels_;
  detail::Subproblems problems_;
  MemoryForecast forecast_;
  std::uint64_t fingerprint_ = 0;
  double bias_ = 0;  ///< Bias in units of kernel values.
  detail::TrainingState<Sampler> state_;
  std::optional<BoundaryChoice> boundary_;
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
    ManhattanKernel<Kernel> || !std::is_class_v<Kernel> || std::is_final_v<Kernel> ||
    !requires { &CalledWithNothingToo<Kernel>::operator(); };

template <class Kernel, class I>
concept TrainableOn = std::same_as<Kernel, PrecomputedKernel> || KernelOn<Kernel, I>;

/// Calls make(type of a training, inputs, classes) after a check of the number of classes.
template <class Kernel, class Sampler, class I, class Make>
[[nodiscard]] auto with_training_set(const BayesPointMachine<Kernel, Sampler>& /*machine*/,
                                     bool any_number, I&& inputs, std::span<const int> labels,
                                     std::string_view function, Make&& make) {
  std::vector<int> classes = check_labels(input_count(inputs), labels, function);
  check(any_number || classes.size() == 2, function, "labels", "have ", classes.size(),
        " classes, expected two; use OneVsRest for more");
  auto kept = keep_or_refer(std::forward<I>(inputs));
  using Inputs = std::remove_const_t<typename decltype(kept)::element_type>;
  return make(std::type_identity<Training<Kernel, Sampler, Inputs>>{}, std::move(kept),
              std::move(classes));
}

/// Starts the training of a machine's kernel and sampler.
template <class Kernel, class Sampler, class I, class O>
[[nodiscard]] auto start_training(const BayesPointMachine<Kernel, Sampler>& machine,
                                  bool any_number, I&& inputs, LabelList labels, O& observer,
                                  StopToken stop, std::string_view function) {
  return with_training_set(
      machine, any_number, std::forward<I>(inputs), labels.list(), function,
      [&]<class T>(std::type_identity<T>, auto kept, std::vector<int> classes) {
        return T(machine.kernel(), machine.sampler(), machine.settings(), std::move(kept),
                 std::move(labels), std::move(classes),
                 run_control(machine.settings(), observer, std::move(stop)), function);
      });
}

}  // namespace detail
}}  // namespace bpm
