// SPDX-License-Identifier: MIT
#include "machines.hpp"

#include <concepts>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "common/setting_search.hpp"
#include "fitted.hpp"

namespace bpm_python {

namespace {

/// By the method that is asked for.
template <class Kernel, class I>
[[nodiscard]] std::shared_ptr<const Model> fit_with(const Kernel& kernel, const FitRequest& request,
                                                    const I& inputs,
                                                    std::shared_ptr<const void> owner,
                                                    std::vector<int> labels, const Watch& watch,
                                                    bpm::StopToken stop) {
  if (request.sampler == "perceptron") {
    return train(kernel, bpm::PermutedPerceptron{}, request, inputs, std::move(owner),
                 std::move(labels), watch, std::move(stop));
  }
  if constexpr (std::same_as<I, DoublesOf<Kernel>>) {
    if (auto model = fit_doubles(kernel, request, inputs, std::move(owner), std::move(labels),
                                 watch, std::move(stop))) {
      return model;
    }
  }
  throw std::invalid_argument("fit: sampler is '" + request.sampler +
                              "', must be 'perceptron' for inputs that are not float64");
}

}  // namespace

std::shared_ptr<const Model> Model::with_draws_added(std::uint64_t /*draws*/,
                                                     const Watch& /*watch*/,
                                                     bpm::StopToken /*stop*/) const {
  throw std::invalid_argument(
      "add_draws: the estimator has a model alone, must have its training as well: one that was "
      "pickled or copied, is of pairs of classes or of expectation propagation takes no draws");
}

std::shared_ptr<const Model> fit(const FitRequest& request, const Rows& rows,
                                 std::shared_ptr<const void> owner, std::vector<int> labels,
                                 const Watch& watch, bpm::StopToken stop) {
  return std::visit(
      [&]<class I>(const I& inputs) {
        const auto with = [&](const auto& kernel, const auto& numbers) {
          return fit_with(kernel, request, numbers, std::move(owner), std::move(labels), watch,
                          std::move(stop));
        };
        if constexpr (std::same_as<I, Eigen::Map<const bpm::RowMatrix<double>>>) {
          if (request.kernel == "precomputed") {
            return with(bpm::PrecomputedKernel{}, bpm::RowMatrix<double>(inputs));
          }
          if (request.kernel == "laplacian") {
            return with(bpm::Laplacian(request.width.value()), inputs);
          }
        }
        return with(kernel_of_products(request), inputs);
      },
      rows);
}

std::shared_ptr<const Model> load(const std::string& kind, const std::vector<std::byte>& bytes,
                                  unsigned threads) {
  using Doubles = bpm::RowMatrix<double>;
  auto model = load_one_of<bpm::Classifier<bpm::RuntimeKernel, bpm::RowMatrix<float>>,
                           bpm::Classifier<bpm::RuntimeKernel, Doubles>,
                           bpm::Classifier<bpm::RuntimeKernel, bpm::RowMatrix<std::uint8_t>>,
                           bpm::Classifier<bpm::RuntimeKernel, bpm::SparseRowMatrix<double>>,
                           bpm::Classifier<bpm::Laplacian, Doubles>,
                           bpm::Classifier<bpm::PrecomputedKernel, Doubles>>(kind, bytes, threads);
  if (!model) model = load_posterior(kind, bytes, threads);
  if (!model) throw std::invalid_argument("load: kind is '" + kind + "', which no model has");
  return model;
}

double median_distance(const Rows& rows) {
  return std::visit([](const auto& inputs) { return bpm::median_distance(inputs); }, rows);
}

bool floats_suffice(const Rows& rows) {
  const auto* const doubles = std::get_if<Eigen::Map<const bpm::RowMatrix<double>>>(&rows);
  return doubles != nullptr && bpm_examples::floats_suffice(*doubles);
}

}  // namespace bpm_python
