// SPDX-License-Identifier: MIT
// A sampler of each kind, all declarations. tests/static/misspelt.cmake compiles it as it is, and
// with one hook at a time spelt otherwise.
#include "bpm/machine/run_sampler.hpp"

struct OnKernelValues {
  static constexpr bpm::SamplerTraits traits{.computes_blocks = true, .has_trials = true};
  std::uint64_t draws = 1;
  void check_settings() const;
  OnKernelValues with_draws(std::uint64_t) const;
  OnKernelValues trial(std::uint64_t) const;
  void limit_as_trials();
  bpm::MemoryNeed memory_need(const bpm::RunSize&) const;
  template <class Space, class Sink>
  bpm::SamplerReport sample(std::span<const Space>, bpm::RandomStreams&, const bpm::RunControl&,
                            Sink&&) const;
};

struct OnCone {
  struct State {
    bool empty() const;
    bpm::CentreOfMass centre() const;
  };
  static constexpr bpm::SamplerTraits traits{.sees = bpm::SamplerTraits::Sees::cone,
                                             .takes_label_noise = true};
  std::uint64_t draws = 1;
  void check_settings() const;
  OnCone with_draws(std::uint64_t) const;
  OnCone with_label_noise(double) const;
  bpm::MemoryNeed memory_need(const bpm::RunSize&) const;
  bpm::ConePlan plan() const;
  template <class Sink>
  bpm::SamplerReport sample(const bpm::Cone&, std::span<const double>, bpm::RandomStreams&,
                            const bpm::RunControl&, Sink&&, State&) const;
};

struct Space {};
inline void require_both() {
  bpm::detail::require_sampler<OnKernelValues, Space>();
  bpm::detail::require_sampler<OnCone, Space>();
}
