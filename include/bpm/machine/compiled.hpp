// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/radial.hpp"
#include "bpm/kernels/runtime_kernel.hpp"
#include "bpm/machine/automatic_boundary.hpp"
#include "bpm/machine/candidates.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/machine/fit_settings.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/machine/out_of_fold.hpp"
#include "bpm/machine/prediction.hpp"
#include "bpm/machine/run_sampler.hpp"
#include "bpm/machine/train.hpp"
#include "bpm/machine/training.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/soft_boundary.hpp"
#include "bpm/version_space/version_space.hpp"

/// \file
/// Templates that bpm::compiled contains, for kernel values in float and double: those of samplers
/// and their choices, for any kernel; and machines of dense inputs with the Gaussian kernel and
/// with `RuntimeKernel`.

// WORD is `extern template`, or `template` for the definitions.
#define BPM_DETAIL_OF_SAMPLER(WORD, S, T)                                                         \
  WORD SamplerReport run_sampler(const S&, const Gram<T>&, const Subproblems&, const RunControl&, \
                                 TrainingState<S>&);                                              \
  WORD void try_boundaries(const DenseGram<T>&, const OutOfFold&, std::span<const int>, const S&, \
                           const FitSettings&, const RunControl&, std::span<ChoiceCandidate>,     \
                           BestOfFirstFold*);                                                     \
  WORD BoundaryChoice choose_boundary(const ChoicePart&, const DenseGram<T>&, const S&,           \
                                      const FitSettings&, const std::vector<int>&,                \
                                      const RunControl&, std::string_view);                       \
  WORD std::string train(std::unique_ptr<Gram<T>>&, std::span<const std::vector<PointIndex>>,     \
                         DrawFit<S>&, const RunControl&, std::string_view);                       \
  WORD BoundaryChoice boundary_of(const ChoiceCandidate&, const DenseGram<T>&, const OutOfFold&,  \
                                  const ChoicePart&, const S&, std::uint64_t, const FitSettings&, \
                                  const RunControl&);

#define BPM_DETAIL_OF_VALUES(WORD, T)                                                         \
  WORD void hold_values(std::unique_ptr<Gram<T>>&, const MemoryForecast&, const RunControl&); \
  WORD class DenseGram<T>;                                                                    \
  WORD void Subproblems::resolve_lambda(const Gram<T>&, const SoftBoundary&,                  \
                                        std::span<const int>);                                \
  WORD SamplerReport sample_pieces(const PerceptronLimits&,                                   \
                                   std::span<const KernelVersionSpace<T>>, RandomStreams&,    \
                                   const PieceTasks&, const RunControl&, const AnySink&);     \
  BPM_DETAIL_OF_SAMPLER(WORD, PermutedPerceptron, T)                                          \
  BPM_DETAIL_OF_SAMPLER(WORD, Billiard, T)                                                    \
  BPM_DETAIL_OF_SAMPLER(WORD, KernelGibbs, T)

#define BPM_DETAIL_OF_KERNEL(WORD, K, T)                               \
  WORD class OnDemandGram<K, RowMatrix<T>>;                            \
  WORD class OnDemandGram<WithConstant<K, std::plus<>>, RowMatrix<T>>; \
  WORD class SupportValues<K, RowMatrix<T>>;

#define BPM_DETAIL_OF_MACHINE(WORD, K, T)                   \
  WORD class Classifier<K, RowMatrix<T>>;                   \
  WORD class Training<K, PermutedPerceptron, RowMatrix<T>>; \
  WORD Eigen::MatrixXd Classifier<K, RowMatrix<T>>::decision_values(const RowMatrix<T>&) const;

#define BPM_DETAIL_MACHINES(WORD)                   \
  namespace detail {                                \
  BPM_DETAIL_OF_KERNEL(WORD, Gaussian, float)       \
  BPM_DETAIL_OF_KERNEL(WORD, Gaussian, double)      \
  BPM_DETAIL_OF_KERNEL(WORD, RuntimeKernel, float)  \
  BPM_DETAIL_OF_KERNEL(WORD, RuntimeKernel, double) \
  }                                                 \
  BPM_DETAIL_OF_MACHINE(WORD, Gaussian, float)      \
  BPM_DETAIL_OF_MACHINE(WORD, Gaussian, double)     \
  BPM_DETAIL_OF_MACHINE(WORD, RuntimeKernel, float) \
  BPM_DETAIL_OF_MACHINE(WORD, RuntimeKernel, double)

namespace bpm { inline namespace BPM_TARGET {

struct Billiard;
struct KernelGibbs;

#if !BPM_BODIES
namespace detail {
BPM_DETAIL_OF_VALUES(extern template, float)
BPM_DETAIL_OF_VALUES(extern template, double)
}  // namespace detail
BPM_DETAIL_MACHINES(extern template)
#endif

}}  // namespace bpm
