// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/machine/draw_mean.hpp"
#include "bpm/machine/expansion.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/latent_outputs.hpp"
#include "bpm/machine/training.hpp"

namespace bpm::detail {

/// The control of a run from what a machine's caller gives. The observer must outlive it.
template <Observer O>
[[nodiscard]] RunControl run_control(const FitSettings& settings, O& observer,
                                     std::stop_token stop) {
  return {[&observer](const Progress& progress) { return notify(observer, progress); },
          std::move(stop), thread_count(settings.threads)};
}

/// What the fitted machines share: one or several two-class problems on one training set, fitted.
template <class Kernel, class Sampler, class Owned>
class FittedCore {
 public:
  template <InputSet I>
  FittedCore(const Kernel& kernel, const Sampler& sampler, const FitSettings& settings,
             const I& inputs, std::span<const int> labels, Problems problems,
             const RunControl& control, std::string_view function)
      : sampler_(sampler), settings_(settings), problems_(std::move(problems)) {
    if constexpr (requires { sampler.check_settings(); }) {
      sampler.check_settings();  // Before a kernel matrix is made for nothing.
    }
    check_inputs(inputs, function);
    state_.forecast =
        forecast_memory(kernel, sampler, settings, inputs, problems_.signs.size(), function);
    for (std::size_t p = 0; p < problems_.signs.size(); ++p) {
      state_.means.emplace_back(input_count(inputs), settings.keep_draws, !has_chains<Sampler>);
    }
    state_.memories.resize(problems_.signs.size());
    state_.streams.assign(problems_.signs.size(), RandomStreams{settings.seed, 0});
    const std::vector<std::uint64_t> hashes = input_hashes(inputs);
    state_.fingerprint = fingerprint(hashes, labels);
    train(kernel, sampler_, settings_, inputs, labels, problems_, hashes, control, state_,
          function);
    finish(kernel, inputs);
  }

  /// Continues where the fit ended. Nothing changes if it throws.
  template <InputSet I>
  void add_draws(std::uint64_t draws, const I& inputs, std::span<const int> labels,
                 const RunControl& control, std::string_view function) {
    check(draws >= 1, function, "draws", "is ", draws, ", must be 1 or more");
    check_size(function, "inputs", input_count(inputs), points(), "as in the training set");
    check_size(function, "labels", labels.size(), points(), "as in the training set");
    const std::vector<std::uint64_t> hashes = input_hashes(inputs);
    check(fingerprint(hashes, labels) == state_.fingerprint, function, "inputs",
          "or labels differ from the training set, must be the same");
    const Sampler more = sampler_.with_draws(draws);
    FittedCore next = *this;
    train(expansion_->kernel(), more, settings_, inputs, labels, problems_, hashes, control,
          next.state_, function);
    next.finish(expansion_->kernel(), inputs);
    *this = std::move(next);
  }

  template <class Inputs>
  [[nodiscard]] Eigen::MatrixXd outputs(const Inputs& inputs, std::string_view function) const {
    return expansion_->outputs(inputs, packed_, thread_count(settings_.threads), function);
  }

  /// n x (draws * problems), column n * problems + p.
  template <class Inputs>
  [[nodiscard]] Eigen::MatrixXd draw_outputs(const Inputs& inputs,
                                             std::string_view function) const {
    const std::size_t kept = kept_draws(function);
    const auto count = static_cast<Eigen::Index>(problem_count());
    Coefficients all(coefficients_.rows(), static_cast<Eigen::Index>(kept) * count);
    std::fill_n(all.data(), all.size(), 0.0);
    std::vector<Eigen::Index> place(static_cast<std::size_t>(points()), -1);
    for (std::size_t s = 0; s < support().size(); ++s) {
      place[support()[s]] = static_cast<Eigen::Index>(s);
    }
    for (std::size_t p = 0; p < problem_count(); ++p) {
      for (std::size_t n = 0; n < kept; ++n) {
        const KeptDraw& draw = draws(p)[n];
        for (std::size_t s = 0; s < draw.support.size(); ++s) {
          all(place[draw.support[s]], static_cast<Eigen::Index>(n) * count +
                                          static_cast<Eigen::Index>(p)) = draw.coefficients[s];
        }
      }
    }
    return expansion_->outputs(inputs, PackedCoefficients(all), thread_count(settings_.threads),
                               function);
  }

  /// How many draws every problem has kept.
  /// \throws std::invalid_argument if the fit did not keep them.
  [[nodiscard]] std::size_t kept_draws(std::string_view function) const {
    check(settings_.keep_draws, function, "keep_draws",
          "was false when the machine was fitted, must be true for single draws");
    std::size_t kept = draws(0).size();
    for (std::size_t p = 1; p < problem_count(); ++p) kept = std::min(kept, draws(p).size());
    return kept;
  }

  [[nodiscard]] std::size_t problem_count() const noexcept { return problems_.signs.size(); }
  [[nodiscard]] std::ptrdiff_t points() const noexcept { return state_.means[0].size(); }
  [[nodiscard]] const Problems& problems() const noexcept { return problems_; }
  [[nodiscard]] const SamplerReport& report() const noexcept { return state_.report; }
  [[nodiscard]] const MemoryForecast& forecast() const noexcept { return state_.forecast; }
  [[nodiscard]] double training_seconds() const noexcept { return state_.seconds; }
  [[nodiscard]] const Sampler& sampler() const noexcept { return sampler_; }
  [[nodiscard]] const FitSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] const std::vector<PointIndex>& support() const { return expansion_->support(); }
  [[nodiscard]] const Expansion<Kernel, Owned>& expansion() const { return *expansion_; }
  [[nodiscard]] const Coefficients& coefficients() const noexcept { return coefficients_; }
  [[nodiscard]] const std::vector<KeptDraw>& draws(std::size_t p) const {
    return state_.means[p].kept();
  }
  [[nodiscard]] std::uint64_t draw_count(std::size_t p) const { return state_.means[p].count(); }
  [[nodiscard]] double mean_norm(std::size_t p) const { return state_.means[p].norm(); }

  /// The posterior of problem p, where the sampler leaves one.
  [[nodiscard]] const EpPosterior& posterior(std::size_t p) const
    requires PosteriorSampler<Sampler>
  {
    return state_.memories[p].posterior();
  }

  /// Moments of the latent outputs of inputs under each problem's posterior.
  template <class Inputs>
    requires PosteriorSampler<Sampler>
  [[nodiscard]] LatentOutputs latent(const Inputs& inputs, std::string_view function) const {
    return latent_outputs(
        *expansion_, inputs, count_of(inputs), packed_,
        [&](Eigen::Index p) -> const EpPosterior& {
          return posterior(static_cast<std::size_t>(p));
        },
        thread_count(settings_.threads), function);
  }

  /// min_i y_i <w, x_i> / norm(w) of the Bayes point under the sampling kernel.
  [[nodiscard]] double training_margin(std::size_t p) const {
    double smallest = std::numeric_limits<double>::infinity();
    for (std::ptrdiff_t i = 0; i < points(); ++i) {
      smallest = std::min(smallest, problems_.signs[p].data()[i] * state_.means[p].output(i));
    }
    return smallest / mean_norm(p);
  }

  /// Output of the mean at training point i under the plain kernel: without lambda.
  [[nodiscard]] double plain_output(std::size_t p, std::ptrdiff_t i) const {
    const DrawMean& mean = state_.means[p];
    return mean.output(i) - lambda_at(state_.lambda[p], i) * mean.coefficient(i);
  }

  /// Training points on the wrong side of the Bayes point under the plain kernel.
  [[nodiscard]] std::size_t plain_training_errors(std::size_t p) const {
    std::size_t errors = 0;
    for (std::ptrdiff_t i = 0; i < points(); ++i) {
      errors += problems_.signs[p].data()[i] * plain_output(p, i) <= 0 ? 1U : 0U;
    }
    return errors;
  }

 private:
  template <class Inputs>
  [[nodiscard]] static std::ptrdiff_t count_of(const Inputs& inputs) {
    if constexpr (requires { inputs.diagonal.size(); }) {
      return inputs.values.rows();
    } else {
      return input_count(inputs);
    }
  }

  template <InputSet I>
  void finish(const Kernel& kernel, const I& inputs) {
    std::vector<char> used(static_cast<std::size_t>(points()), 0);
    for (const DrawMean& mean : state_.means) {
      for (std::ptrdiff_t i = 0; i < points(); ++i) {
        if (mean.coefficient(i) != 0) used[i] = 1;
      }
      for (const KeptDraw& draw : mean.kept()) {
        for (const PointIndex i : draw.support) used[i] = 1;
      }
    }
    if constexpr (PosteriorSampler<Sampler>) {
      for (const auto& memory : state_.memories) {
        for (const PointIndex i : memory.posterior().pivots) used[i] = 1;
      }
    }
    std::vector<PointIndex> support;
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i] != 0) support.push_back(static_cast<PointIndex>(i));
    }
    coefficients_.resize(std::ssize(support), static_cast<Eigen::Index>(problem_count()));
    for (std::size_t s = 0; s < support.size(); ++s) {
      for (std::size_t p = 0; p < problem_count(); ++p) {
        coefficients_(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(p)) =
            state_.means[p].coefficient(support[s]);
      }
    }
    packed_ = PackedCoefficients(coefficients_);
    expansion_ =
        std::make_shared<const Expansion<Kernel, Owned>>(kernel, inputs, std::move(support));
  }

  Sampler sampler_;
  FitSettings settings_;
  Problems problems_;
  TrainingState<Sampler> state_;
  /// Shared between copies, so that machines are assignable where their kernel, a lambda, is not.
  std::shared_ptr<const Expansion<Kernel, Owned>> expansion_;
  Coefficients coefficients_;
  PackedCoefficients packed_;  ///< The same, for outputs.
};

}  // namespace bpm::detail
