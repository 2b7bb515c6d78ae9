// SPDX-License-Identifier: MIT
// Billiards, Gibbs samplers and expectation propagation, which work on matrices of doubles.

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/gaussian_process/expectation_propagation/machine.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/gibbs/kernel_gibbs.hpp"
#include "bpm/storage/gaussian_process_file.hpp"
#include "fitted.hpp"

namespace bpm_python {

template <class Kernel>
std::shared_ptr<const Model> fit_doubles(const Kernel& kernel, const FitRequest& request,
                                         const DoublesOf<Kernel>& inputs,
                                         std::shared_ptr<const void> owner, std::vector<int> labels,
                                         const Watch& watch, bpm::StopToken stop) {
  const auto trained = [&](auto sampler) {
    return train(kernel, sampler, request, inputs, std::move(owner), std::move(labels), watch,
                 std::move(stop));
  };
  if (request.sampler == "billiard") return trained(bpm::Billiard{});
  if (request.sampler == "gibbs") return trained(bpm::KernelGibbs{});
  if (request.sampler != "expectation_propagation") return nullptr;
  const bpm::OneVsRest machine(bpm::BayesPointMachine(
      kernel, bpm::ExpectationPropagation{.noise_deviation = request.noise_deviation},
      settings_of(request)));
  auto classifier = machine.fit(inputs, labels, watch, std::move(stop));
  return std::make_shared<const Fitted<decltype(classifier)>>(std::move(classifier));
}

template std::shared_ptr<const Model> fit_doubles(const bpm::RuntimeKernel&, const FitRequest&,
                                                  const DoublesOf<bpm::RuntimeKernel>&,
                                                  std::shared_ptr<const void>, std::vector<int>,
                                                  const Watch&, bpm::StopToken);
template std::shared_ptr<const Model> fit_doubles(const bpm::Laplacian&, const FitRequest&,
                                                  const DoublesOf<bpm::Laplacian>&,
                                                  std::shared_ptr<const void>, std::vector<int>,
                                                  const Watch&, bpm::StopToken);
template std::shared_ptr<const Model> fit_doubles(const bpm::PrecomputedKernel&, const FitRequest&,
                                                  const DoublesOf<bpm::PrecomputedKernel>&,
                                                  std::shared_ptr<const void>, std::vector<int>,
                                                  const Watch&, bpm::StopToken);

std::shared_ptr<const Model> load_posterior(const std::string& kind,
                                            std::span<const std::byte> bytes, unsigned threads) {
  using Doubles = bpm::RowMatrix<double>;
  return load_one_of<bpm::PosteriorClassifier<bpm::RuntimeKernel, Doubles>,
                     bpm::PosteriorClassifier<bpm::Laplacian, Doubles>,
                     bpm::PosteriorClassifier<bpm::PrecomputedKernel, Doubles>>(kind, bytes,
                                                                                threads);
}

}  // namespace bpm_python
