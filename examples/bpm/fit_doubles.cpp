// SPDX-License-Identifier: MIT
// Of doubles there are all samplers, and expectation propagation.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/storage/training_file.hpp"
#include "fit_with.hpp"
#include "posterior.hpp"

namespace bpm_examples {

namespace {

using Rows = bpm::RowMatrix<double>;

/// The draws of chains in ten parts, of which each leaves a file to go on from: what Ctrl-C ends is
/// made again from there. The model is that of one run.
template <class Sampler>
[[nodiscard]] auto fit_by_parts(const Machine<Sampler>& machine, const FitTask& task,
                                const Rows& inputs, std::span<const int> labels,
                                const Watch& watch) {
  check_checkpoint(task);
  std::filesystem::create_directories(task.checkpoint);
  const std::filesystem::path file = task.checkpoint / "chains";
  const auto& binary = machine.machine();
  const std::uint64_t wanted = binary.sampler().draws.value();
  const std::uint64_t part = std::max<std::uint64_t>(1, wanted / 10);
  const Machine<Sampler> first(bpm::BayesPointMachine(
      binary.kernel(), binary.sampler().with_draws(std::min(part, wanted)), binary.settings()));
  auto training = std::filesystem::exists(file) ? bpm::resume(first, inputs, labels, file)
                                                : first.train(inputs, labels, watch);
  while (!training.report().stopped) {
    bpm::save(training, file);
    const std::uint64_t done = training.report().draws;
    if (done >= wanted) break;
    try {
      training.add_draws(std::min(part, wanted - done), watch);
    } catch (const bpm::Stopped&) {
      break;  // Before the first draw of this part.
    }
  }
  return training.classifier();
}

template <class Sampler>
[[nodiscard]] FitOutcome fit_chains(Sampler sampler, const FitTask& task, const Rows& inputs,
                                    std::span<const int> labels, const Watch& watch) {
  sampler.draws = task.draws.value_or(100);
  return fit_machine(sampler, task, inputs, labels, watch, [&](const auto& machine) {
    return task.checkpoint.empty() ? machine.fit(inputs, labels, watch)
                                   : fit_by_parts(machine, task, inputs, labels, watch);
  });
}

/// Of all kernels and boundaries the one with the largest evidence.
[[nodiscard]] FitOutcome fit_posterior(const FitTask& task, const Rows& inputs,
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
        if (const auto& chosen = classifier.parts().boundary) {
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

}  // namespace

FitOutcome fit_doubles(const FitTask& task, const bpm::RowMatrix<double>& inputs,
                       std::span<const int> labels, const Watch& watch) {
  if (task.sampler == "billiard") {
    return fit_chains(bpm::Billiard{}, task, inputs, labels, watch);
  }
  if (task.sampler == "gibbs") return fit_chains(bpm::KernelGibbs{}, task, inputs, labels, watch);
  if (task.sampler == "ep") return fit_posterior(task, inputs, labels, watch);
  return fit_perceptrons(task, inputs, labels, watch);
}

}  // namespace bpm_examples
