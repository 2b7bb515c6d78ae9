// SPDX-License-Identifier: MIT
// The concepts, both ways, and the report.
#include "bpm/samplers/sampler.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/version_space/version_space.hpp"
#include "catch.hpp"

namespace {

using FloatSpace = bpm::KernelVersionSpace<float>;
static_assert(bpm::VersionSpace<FloatSpace>);

/// What a sampler of each kind needs.
struct Minimal {
  std::uint64_t draws = 1;
  static constexpr bpm::SamplerTraits traits{};
  void check_settings() const {}
  Minimal with_draws(std::uint64_t) const { return *this; }
  bpm::MemoryNeed memory_need(const bpm::RunSize&) const { return {}; }
  template <bpm::VersionSpace V, bpm::detail::DrawSink S>
  bpm::SamplerReport sample(std::span<const V>, bpm::RandomStreams&, const bpm::RunControl&,
                            S&&) const {
    return {};
  }
};

struct MinimalCone {
  struct State {
    [[nodiscard]] bool empty() const { return true; }
    [[nodiscard]] bpm::CentreOfMass centre() const { return {}; }
  };
  std::uint64_t draws = 1;
  static constexpr bpm::SamplerTraits traits{.sees = bpm::SamplerTraits::Sees::cone};
  void check_settings() const {}
  MinimalCone with_draws(std::uint64_t) const { return *this; }
  bpm::MemoryNeed memory_need(const bpm::RunSize&) const { return {}; }
  bpm::ConePlan plan() const { return {}; }
  template <bpm::detail::DrawSink S>
  bpm::SamplerReport sample(const bpm::Cone&, std::span<const double>, bpm::RandomStreams&,
                            const bpm::RunControl&, S&&, State&) const {
    return {};
  }
};

// What is declared again, or left out, hides what Minimal has.
template <class Base>
struct FixedDraws : Base {
  static constexpr std::uint64_t draws = 1;
  FixedDraws with_draws(std::uint64_t) const { return *this; }
};
template <class Base>
struct WithoutTraits : Base {
  int traits = 0;
  WithoutTraits with_draws(std::uint64_t) const { return *this; }
};
template <class Base>
struct WithDrawsOfBase : Base {};
template <class Base>
struct WithoutMemoryNeed : Base {
  std::size_t memory_need = 0;
  WithoutMemoryNeed with_draws(std::uint64_t) const { return *this; }
};
template <class Base>
struct WithoutCheck : Base {
  bool check_settings() const { return true; }
  WithoutCheck with_draws(std::uint64_t) const { return *this; }
};
template <class Base>
struct WithoutSample : Base {
  void sample() const {}
  WithoutSample with_draws(std::uint64_t) const { return *this; }
};
template <class Base>
struct NotCopyable : Base {
  std::unique_ptr<int> owned;
  NotCopyable with_draws(std::uint64_t) const { return {}; }
};

struct ChangingSample : Minimal {
  ChangingSample with_draws(std::uint64_t) const { return *this; }
  template <bpm::VersionSpace V, bpm::detail::DrawSink S>
  bpm::SamplerReport sample(std::span<const V>, bpm::RandomStreams&, const bpm::RunControl&, S&&) {
    return {};
  }
};
struct OneSpaceSample : Minimal {
  OneSpaceSample with_draws(std::uint64_t) const { return *this; }
  template <bpm::VersionSpace V, bpm::detail::DrawSink S>
  bpm::SamplerReport sample(const V&, bpm::RandomStreams&, const bpm::RunControl&, S&&) const {
    return {};
  }
};
struct SampleWithoutReport : Minimal {
  SampleWithoutReport with_draws(std::uint64_t) const { return *this; }
  template <bpm::VersionSpace V, bpm::detail::DrawSink S>
  void sample(std::span<const V>, bpm::RandomStreams&, const bpm::RunControl&, S&&) const {}
};
struct WithoutPlan : MinimalCone {
  int plan = 0;
  WithoutPlan with_draws(std::uint64_t) const { return *this; }
};
struct StateNotCopyable : MinimalCone {
  struct State : MinimalCone::State {
    std::unique_ptr<int> owned;
  };
  StateNotCopyable with_draws(std::uint64_t) const { return *this; }
};
struct StateWithoutCentre : MinimalCone {
  struct State {
    [[nodiscard]] bool empty() const { return true; }
  };
  StateWithoutCentre with_draws(std::uint64_t) const { return *this; }
};

static_assert(bpm::KernelSampler<Minimal, FloatSpace>);
static_assert(bpm::KernelSampler<bpm::PermutedPerceptron, FloatSpace>);
static_assert(!bpm::KernelSampler<Minimal, int>);
static_assert(!bpm::ConeSampler<Minimal>);
static_assert(bpm::ConeSampler<MinimalCone>);
static_assert(bpm::ConeSampler<bpm::Billiard>);
static_assert(bpm::ConeSampler<bpm::KernelGibbs>);
static_assert(!bpm::KernelSampler<MinimalCone, FloatSpace>);
static_assert(bpm::Sampler<Minimal, FloatSpace> && bpm::Sampler<MinimalCone, FloatSpace>);

template <template <class> class Spoilt>
constexpr bool is_refused =
    !bpm::Sampler<Spoilt<Minimal>, FloatSpace> && !bpm::Sampler<Spoilt<MinimalCone>, FloatSpace>;
static_assert(is_refused<FixedDraws>);
static_assert(is_refused<WithoutTraits>);
static_assert(is_refused<WithDrawsOfBase>);
static_assert(is_refused<WithoutMemoryNeed>);
static_assert(is_refused<WithoutCheck>);
static_assert(is_refused<WithoutSample>);
static_assert(is_refused<NotCopyable>);
static_assert(!bpm::Sampler<ChangingSample, FloatSpace>);
static_assert(!bpm::Sampler<OneSpaceSample, FloatSpace>);
static_assert(!bpm::Sampler<SampleWithoutReport, FloatSpace>);
static_assert(!bpm::Sampler<WithoutPlan, FloatSpace>);
static_assert(!bpm::Sampler<StateNotCopyable, FloatSpace>);
static_assert(!bpm::Sampler<StateWithoutCentre, FloatSpace>);

struct Sink {
  void operator()(const bpm::Draw& draw);
};
struct NoSink {
  void operator()(bpm::Draw& draw);
};
static_assert(bpm::detail::DrawSink<Sink>);
static_assert(bpm::detail::DrawSink<void (*)(const bpm::Draw&)>);
static_assert(bpm::detail::DrawSink<void (*)(bpm::Draw)>);
static_assert(bpm::detail::DrawSink<std::function<void(const bpm::Draw&)>>);
static_assert(!bpm::detail::DrawSink<NoSink>);
static_assert(!bpm::detail::DrawSink<const Sink>);
static_assert(!bpm::detail::DrawSink<void (*)()>);
static_assert(!bpm::detail::DrawSink<int>);

}  // namespace

TEST_CASE("reports of problems and of runs add up") {
  const bpm::SamplerReport first{
      .draws = 2,
      .converged = true,
      .kernel_evaluations = 9,
      .kernel_seconds = 0.5,
      .perceptron =
          bpm::SamplerReport::Perceptron{.mistakes = 3, .passes = 4, .training_errors = 5},
      .chains = bpm::ChainReport{
          .steps = 6, .refreshes = 7, .repairs = 8, .chains = 2, .standard_error = 0.1}};
  bpm::SamplerReport second = first;
  second.converged = false;
  second.stopped = true;
  second.reason = "stopped";
  second.advice = bpm::SamplerReport::Advice::in_reason;
  second.chains->standard_error = 0.05;
  const bool run = GENERATE(false, true);
  bpm::SamplerReport sum = first;
  if (run) {
    sum.append(second);
  } else {
    sum.merge(second);
  }
  CHECK(sum.draws == 4);
  CHECK_FALSE(sum.converged);
  CHECK(sum.stopped);
  CHECK(sum.reason == "stopped");
  CHECK(sum.advice == bpm::SamplerReport::Advice::in_reason);
  CHECK(sum.perceptron->mistakes == 6);
  CHECK(sum.perceptron->passes == 8);
  CHECK(sum.perceptron->training_errors == 10);
  CHECK(sum.chains->steps == 12);
  CHECK(sum.chains->refreshes == 14);
  CHECK(sum.chains->repairs == 16);
  // Of problems the worst; of runs what the later says of all draws.
  CHECK(sum.chains->standard_error == (run ? 0.05 : 0.1));
  CHECK(sum.kernel_evaluations == 18);
  CHECK(sum.kernel_seconds == 1.0);
  // Of problems the first reason stays; how the last run ended is how things stand.
  second.reason = "another";
  sum.merge(second);
  CHECK(sum.reason == "stopped");
  sum.append(first);
  CHECK(sum.reason.empty());
  CHECK(sum.converged);
  CHECK_FALSE(sum.stopped);
  // A part that one of them lacks is the other's.
  bpm::SamplerReport bare;
  bare.append(first);
  CHECK(bare.perceptron->mistakes == 3);
  CHECK(bare.chains->standard_error == 0.1);
  bare.append({.draws = 1});
  CHECK(bare.chains->standard_error == 0.1);
}

TEST_CASE("a run goes on until the observer or the stop token says otherwise") {
  CHECK(bpm::RunControl{}.go_on({}));
  int calls = 0;
  bool answer = true;
  std::stop_source source;
  const bpm::RunControl control{[&](const bpm::Progress&) {
                                  ++calls;
                                  return answer;
                                },
                                source.get_token(), 1};
  CHECK(control.go_on({}));
  answer = false;
  CHECK_FALSE(control.go_on({}));
  answer = true;
  source.request_stop();
  CHECK_FALSE(control.go_on({}));
  CHECK(calls == 2);
}
