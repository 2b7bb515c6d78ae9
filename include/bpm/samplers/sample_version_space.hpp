// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Runs a sampler that receives a cone on one version space: checks the settings, factors the
/// kernel matrix, makes products and a start by the plan, and continues from `state`. The observer
/// is called before each stage and may stop the run. The report tells if no classifier separates
/// the data. Cost: the kernel matrix, m r^2 for the factor, and the sampler's.
/// \throws std::invalid_argument on settings out of range, no points, kernel values that no kernel
///         gives, a point that no classifier gives a sign, or a start outside version space.
template <ConeSampler S, VersionSpace Space, detail::DrawSink Sink>
SamplerReport sample_version_space(const S& sampler, const Space& space, RandomStreams& streams,
                                   RunControl control, Sink&& sink, typename S::State& state) {
  control.begin = std::chrono::steady_clock::now();
  sampler.check_settings();
  const ConePlan plan = sampler.plan();
  detail::check(space.size() > 0, plan.name, "space", "has no points");
  SamplerReport report;
  const auto stopped = [&](std::string_view stage) {
    report.stopped = !control.go_on({.stage = stage, .draws_total = plan.draws});
    if (report.stopped) report.reason = "stopped before the first draw";
    return report.stopped;
  };
  if (stopped("factor")) return report;
  Cone cone(space, plan.factor_tolerance);
  if (stopped("products")) return report;
  if (plan.form_products) cone.form_products();
  if (stopped("start")) return report;
  detail::ChainStart start;
  if (state.empty() && plan.start != ConePlan::Start::none) {
    start = detail::find_start(cone, plan, streams.seed);
    if (start.position.empty()) {
      report.reason = start.reason;
      report.advice = SamplerReport::Advice::in_reason;
      return report;
    }
  }
  // One type for all sinks, so that chains are compiled once.
  const detail::AnySink hand_over = std::ref(sink);
  report = sampler.sample(cone, std::span<const double>(start.position), streams, control,
                          hand_over, state);
  if (start.mistakes > 0) {
    if (!report.perceptron) report.perceptron.emplace();
    report.perceptron->mistakes += start.mistakes;
  }
  return report;
}

/// Runs a sampler of either kind on one version space; if it receives a cone, from a new start.
template <class S, VersionSpace Space, detail::DrawSink Sink>
  requires Sampler<S, Space>
SamplerReport sample_version_space(const S& sampler, const Space& space, RandomStreams& streams,
                                   const RunControl& control, Sink&& sink) {
  if constexpr (S::traits.sees == SamplerTraits::Sees::cone) {
    typename S::State state;
    return sample_version_space(sampler, space, streams, control, sink, state);
  } else {
    return sampler.sample(std::span(&space, 1), streams, control, sink);
  }
}

}}  // namespace bpm
