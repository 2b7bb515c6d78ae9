// SPDX-License-Identifier: MIT
// The concepts, both ways, and the report.
#include "bpm/samplers/sampler.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "bpm/kernel_values/dense_gram.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/version_space/kernel_version_space.hpp"
#include "catch.hpp"

namespace {

using Space = bpm::KernelVersionSpace<bpm::detail::DenseGram<float>>;
static_assert(bpm::VersionSpace<Space>);

/// All that a sampler needs.
struct Minimal {
  std::uint64_t draws = 1;

  template <bpm::VersionSpace V, bpm::DrawSink S>
  bpm::SamplerReport sample(const V& /*space*/, bpm::RandomStreams& /*streams*/,
                            const bpm::RunControl& /*control*/, S&& /*sink*/) const {
    return {};
  }
};

struct WithoutDraws {
  template <bpm::VersionSpace V, bpm::DrawSink S>
  bpm::SamplerReport sample(const V&, bpm::RandomStreams&, const bpm::RunControl&, S&&) const {
    return {};
  }
};

struct FixedDraws : WithoutDraws {
  static constexpr std::uint64_t draws = 1;
};

struct WithoutSample {
  std::uint64_t draws = 1;
};

struct ChangingSample {
  std::uint64_t draws = 1;
  template <bpm::VersionSpace V, bpm::DrawSink S>
  bpm::SamplerReport sample(const V&, bpm::RandomStreams&, const bpm::RunControl&, S&&) {
    return {};
  }
};

struct WithoutReport {
  std::uint64_t draws = 1;
  template <bpm::VersionSpace V, bpm::DrawSink S>
  void sample(const V&, bpm::RandomStreams&, const bpm::RunControl&, S&&) const {}
};

struct WithoutStreams {
  std::uint64_t draws = 1;
  template <bpm::VersionSpace V, bpm::DrawSink S>
  bpm::SamplerReport sample(const V&, const bpm::RunControl&, S&&) const {
    return {};
  }
};

struct NotCopyable : Minimal {
  std::unique_ptr<int> owned;
};

struct InStep : Minimal {
  template <bpm::VersionSpace V, bpm::DrawSink S>
  bpm::SamplerReport sample_in_step(std::span<const V>, bpm::RandomStreams&, const bpm::RunControl&,
                                    S&&) const {
    return {};
  }
};

struct InStepWithoutReport : Minimal {
  template <bpm::VersionSpace V, bpm::DrawSink S>
  bool sample_in_step(std::span<const V>, bpm::RandomStreams&, const bpm::RunControl&, S&&) const {
    return true;
  }
};

struct InStepOnOneSpace : Minimal {
  template <bpm::VersionSpace V, bpm::DrawSink S>
  bpm::SamplerReport sample_in_step(const V&, bpm::RandomStreams&, const bpm::RunControl&,
                                    S&&) const {
    return {};
  }
};

struct InStepWithoutDraws : WithoutDraws {
  template <bpm::VersionSpace V, bpm::DrawSink S>
  bpm::SamplerReport sample_in_step(std::span<const V>, bpm::RandomStreams&, const bpm::RunControl&,
                                    S&&) const {
    return {};
  }
};

static_assert(bpm::Sampler<Minimal, Space>);
static_assert(bpm::Sampler<InStep, Space>);
static_assert(bpm::Sampler<bpm::PermutedPerceptron, Space>);
static_assert(!bpm::Sampler<WithoutDraws, Space>);
static_assert(!bpm::Sampler<FixedDraws, Space>);
static_assert(!bpm::Sampler<WithoutSample, Space>);
static_assert(!bpm::Sampler<ChangingSample, Space>);
static_assert(!bpm::Sampler<WithoutReport, Space>);
static_assert(!bpm::Sampler<WithoutStreams, Space>);
static_assert(!bpm::Sampler<NotCopyable, Space>);
static_assert(!bpm::Sampler<Minimal, int>);

static_assert(bpm::StepSampler<InStep, Space>);
static_assert(bpm::StepSampler<bpm::PermutedPerceptron, Space>);
static_assert(!bpm::StepSampler<Minimal, Space>);
static_assert(!bpm::StepSampler<InStepWithoutReport, Space>);
static_assert(!bpm::StepSampler<InStepOnOneSpace, Space>);
static_assert(!bpm::StepSampler<InStepWithoutDraws, Space>);

struct Sink {
  void operator()(const bpm::Draw& draw);
};
struct NoSink {
  void operator()(bpm::Draw& draw);
};
static_assert(bpm::DrawSink<Sink>);
static_assert(bpm::DrawSink<void (*)(const bpm::Draw&)>);
static_assert(bpm::DrawSink<void (*)(bpm::Draw)>);
static_assert(bpm::DrawSink<std::function<void(const bpm::Draw&)>>);
static_assert(!bpm::DrawSink<NoSink>);
static_assert(!bpm::DrawSink<const Sink>);
static_assert(!bpm::DrawSink<void (*)()>);
static_assert(!bpm::DrawSink<int>);

}  // namespace

TEST_CASE("reports of one sampler add up") {
  bpm::SamplerReport first{.draws = 2,
                           .converged = true,
                           .stopped = false,
                           .reason = "",
                           .mistakes = 3,
                           .passes = 4,
                           .training_errors = 5,
                           .bounces = 6,
                           .refreshes = 7,
                           .repairs = 8,
                           .kernel_evaluations = 9,
                           .kernel_seconds = 0.5};
  bpm::SamplerReport second = first;
  second.converged = false;
  second.stopped = true;
  second.reason = "stopped";
  first.append(second);
  CHECK(first.draws == 4);
  CHECK_FALSE(first.converged);
  CHECK(first.stopped);
  CHECK(first.reason == "stopped");
  CHECK(first.mistakes == 6);
  CHECK(first.passes == 8);
  CHECK(first.training_errors == 10);
  CHECK(first.bounces == 12);
  CHECK(first.refreshes == 14);
  CHECK(first.repairs == 16);
  CHECK(first.kernel_evaluations == 18);
  CHECK(first.kernel_seconds == 1.0);
  // The first reason stays.
  second.reason = "another";
  first.append(second);
  CHECK(first.reason == "stopped");
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
