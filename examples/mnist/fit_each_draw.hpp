// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/random.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"

/// \file
/// Draws that have training sets of their own, such as copies of digits.

namespace bpm_examples {

/// What one draw is trained on.
template <bpm::DenseInputs Inputs>
struct DrawSet {
  Inputs inputs;            ///< m_j inputs, one per row.
  std::vector<int> labels;  ///< m_j.
  /// What the inputs are called, ascending: a number is one input in all draws' sets, which is then
  /// kept once. Empty: 0 to m_j - 1.
  std::vector<bpm::PointIndex> numbers{};
};

namespace detail {

/// A support point of one draw's classifier.
struct SupportOfDraw {
  bpm::PointIndex number = 0;
  std::size_t draw = 0;
  Eigen::Index row = 0;
};

/// The mean of classifiers of single draws, their support points by their numbers.
template <class Kernel, class Inputs>
[[nodiscard]] bpm::ClassifierParts<Kernel, Inputs> mean_of_draws(
    std::vector<bpm::ClassifierParts<Kernel, Inputs>> draws, bool keep_draws,
    std::string_view function) {
  std::vector<SupportOfDraw> all;
  for (std::size_t j = 0; j < draws.size(); ++j) {
    for (std::size_t s = 0; s < draws[j].support.size(); ++s) {
      all.push_back({draws[j].support[s], j, static_cast<Eigen::Index>(s)});
    }
  }
  std::ranges::stable_sort(all, {}, &SupportOfDraw::number);
  std::vector<bpm::PointIndex> support;
  for (const SupportOfDraw& one : all) {
    if (support.empty() || support.back() != one.number) support.push_back(one.number);
  }
  const Eigen::Index size = std::ssize(support);
  const Eigen::Index columns = draws[0].coefficients.cols();
  const auto count = static_cast<Eigen::Index>(draws.size());
  bpm::ClassifierParts<Kernel, Inputs> mean{
      .kernel = draws[0].kernel,
      .inputs = Inputs(size, draws[0].inputs.cols()),
      .support = std::move(support),
      .coefficients = bpm::RowMatrix<double>::Zero(size, columns),
      .classes = draws[0].classes,
      .origin = draws[0].origin,
      .bias = draws[0].bias};
  if (keep_draws) mean.draw_coefficients.setZero(size, count * columns);
  Eigen::Index place = -1;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto& [number, j, row] = all[k];
    const auto input = draws[j].inputs.row(row);
    if (k == 0 || all[k - 1].number != number) {
      mean.inputs.row(++place) = input;
    } else {
      bpm::detail::check((mean.inputs.row(place).array() == input.array()).all(), function,
                         "make_set", "gives draw ", j, " another input by the number ", number,
                         " than draw ", all[k - 1].draw);
    }
    mean.coefficients.row(place) += draws[j].coefficients.row(row);
    if (keep_draws) {
      mean.draw_coefficients.block(place, static_cast<Eigen::Index>(j) * columns, 1, columns) =
          draws[j].coefficients.row(row);
    }
  }
  mean.coefficients /= static_cast<double>(count);
  for (std::size_t j = 0; keep_draws && j < draws.size(); ++j) {
    mean.draw_numbers.push_back(j);
    mean.draw_weights.insert(mean.draw_weights.end(), static_cast<std::size_t>(columns), 1.0);
  }
  return mean;
}

}  // namespace detail

/// The mean of draws that have training sets of their own: draw j, the classifier w_j of norm 1 by
/// which a permuted perceptron makes no mistake on the set j, j < n, and
///
///     f_c(x) = (1/n) sum_j f_jc(x).
///
/// For sets that share examples and differ in the rest, such as the virtual examples made of them:
/// draws that differ in more than their order average better, and one set is in memory at a time.
/// Each w_j lies in the version space of its own set, inside that of what all sets share, where
/// their mean is as well; the mean of draws of several version spaces is the Bayes point of none.
///
/// `make_set(j)` gives the `DrawSet` of draw j; the sets have the same classes and columns. The
/// seed of draw j is the first number of stream j of the machine's. Lambda is one's own or none,
/// the bias that of the first set in all draws. The classifier has no margins and norms, which are
/// those of one training set. Cost: n fits, one after the other; memory: a set, a fit of it, and
/// the support of all. Stopped, it gives the mean of the draws that are finished.
/// \throws std::invalid_argument on sets of other classes or columns, numbers that do not ascend,
///         or are not one per input, a number of two inputs, an automatic soft boundary,
///         `standardise`. As `OneVsRest::fit`.
template <class Kernel, class MakeSet, bpm::Observer O = bpm::detail::IgnoreProgress>
[[nodiscard]] auto fit_each_draw(const bpm::OneVsRest<Kernel, bpm::PermutedPerceptron>& machine,
                                 MakeSet&& make_set, O&& observer = {}, bpm::StopToken stop = {}) {
  const char* const function = "fit_each_draw";
  using Set = std::remove_cvref_t<std::invoke_result_t<MakeSet&, std::uint64_t>>;
  using Inputs = bpm::detail::owned_inputs_t<decltype(Set::inputs)>;
  const bpm::OneVsRest<Kernel>& asked = machine;
  bpm::detail::check(!asked.settings().soft_boundary.is_automatic(), function, "soft_boundary",
                     "is automatic: every draw would choose another; give one, or "
                     "SoftBoundary::hard()");
  bpm::detail::check(!asked.settings().standardise, function, "standardise",
                     "is true, must be false: sets differ in their means and deviations");
  asked.sampler().check_settings();
  const std::uint64_t count = asked.sampler().draws;
  std::vector<bpm::ClassifierParts<Kernel, Inputs>> draws;
  bpm::SamplerReport ended{.converged = true};
  bpm::Notes notes{.seed = asked.settings().seed, .chosen = asked.settings().chosen};
  notes.report.converged = true;
  for (std::uint64_t j = 0; j < count; ++j) {
    Set set = make_set(j);
    bpm::FitSettings settings = asked.settings();
    settings.seed = bpm::RandomStreams{settings.seed}.stream(j)();
    settings.keep_draws = false;
    // The bias of the first draw's set, in units of this set's: a mean has one.
    if (j > 0 && draws[0].bias > 0 && set.inputs.rows() > 0) {
      bpm::detail::check_inputs(set.inputs, function);
      settings.bias = 1.0;
      const double unit =
          bpm::detail::absolute_bias(asked.kernel(), settings, set.inputs, function);
      if (unit > 0) settings.bias = draws[0].bias / unit;
    }
    const bpm::OneVsRest one(bpm::BayesPointMachine(asked.kernel(), asked.sampler().with_draws(1),
                                                    settings.soft_boundary, settings));
    const auto watch = [&](bpm::Progress now) {
      now = now.of_part(j, count);
      now.draws += j;
      now.draws_total = count;
      return bpm::detail::notify(observer, now);
    };
    try {
      const auto fitted = one.fit(set.inputs, set.labels, watch, stop);
      draws.push_back(fitted.parts());
      notes.report.append(fitted.report());
      notes.training_seconds += fitted.notes.training_seconds;
      if (j == 0) notes.forecast = fitted.forecast();
    } catch (const bpm::Stopped&) {
      if (draws.empty()) throw;
      ended = {.stopped = true, .reason = "stopped"};
      break;
    }
    bpm::ClassifierParts<Kernel, Inputs>& made = draws.back();
    bpm::detail::check(made.classes == draws[0].classes, function, "make_set", "gives draw ", j,
                       " other classes than draw 0");
    bpm::detail::check(made.inputs.cols() == draws[0].inputs.cols(), function, "make_set",
                       "gives draw ", j, " ", made.inputs.cols(), " columns, draw 0 has ",
                       draws[0].inputs.cols());
    if (set.numbers.empty()) continue;
    bpm::detail::check_size(function, "numbers", set.numbers.size(), set.inputs.rows(),
                            "one per input, or none");
    bpm::detail::check(
        std::ranges::is_sorted(set.numbers, std::ranges::less_equal()) && set.numbers.front() >= 0,
        function, "numbers", "of draw ", j, " do not ascend from 0 on");
    for (bpm::PointIndex& s : made.support) s = set.numbers[static_cast<std::size_t>(s)];
  }
  auto mean = detail::mean_of_draws(std::move(draws), asked.settings().keep_draws, function);
  mean.threads = asked.settings().threads;
  notes.report.append(ended);
  return bpm::Classifier<Kernel, Inputs>(std::move(mean), std::move(notes));
}

}  // namespace bpm_examples
