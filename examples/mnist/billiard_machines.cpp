// SPDX-License-Identifier: MIT
#include "machines.hpp"

namespace bpm_examples {

template bpm::MemoryForecast forecast_with(const bpm::Billiard&, const Experiment&,
                                           const DigitInputs&, std::size_t,
                                           const bpm::FitSettings&);
template void run_with(const bpm::Billiard&, const Experiment&, const DigitInputs&,
                       const std::function<void(const bpm::Progress&)>&, MnistReport&);

}  // namespace bpm_examples
