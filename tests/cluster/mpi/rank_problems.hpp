// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bpm/cluster/communicator.hpp"
#include "bpm/cluster/distributed_perceptron.hpp"
#include "bpm/core/random.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/storage/run_identity.hpp"
#include "hard.hpp"

/// \file
/// A small problem of three classes that every rank makes for itself, and what is compared.

namespace rank_tests {

using Inputs = bpm::RowMatrix<float>;

struct Problem {
  Inputs inputs;
  std::vector<int> labels;
};

/// Points uniform in a cube with random labels of three classes: separable by a narrow Gaussian.
inline Problem make_problem(std::ptrdiff_t m = 240) {
  bpm::RandomEngine engine(5);
  Problem problem{Inputs(m, 5), {}};
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t j = 0; j < 5; ++j) {
      problem.inputs(i, j) = static_cast<float>(2 * bpm::uniform_unit(engine) - 1);
    }
    problem.labels.push_back(static_cast<int>(bpm::uniform_below(engine, 3)) + 4);
  }
  return problem;
}

inline const auto kernel = bpm::Gaussian::from_sigma(0.4);

inline bpm::FitSettings one_thread(std::uint64_t seed = 1) {
  bpm::FitSettings settings = test_support::hard();
  settings.seed = seed;
  settings.threads = 1;
  return settings;
}

/// Kernel values are computed when needed.
template <class Kernel, class Sampler>
auto windowed_machine(const Kernel& k, const Sampler& sampler,
                      bpm::FitSettings settings = one_thread()) {
  settings.strategy = bpm::Strategy::windowed;
  return bpm::OneVsRest(bpm::BayesPointMachine(k, sampler, test_support::hard(settings)));
}

template <class Sampler>
auto fit(const Sampler& sampler, const Problem& problem,
         const bpm::FitSettings& settings = one_thread()) {
  return windowed_machine(kernel, sampler, settings).fit(problem.inputs, problem.labels);
}

/// With the whole kernel matrix.
template <class Sampler>
auto fit_dense(const Sampler& sampler, const Problem& problem) {
  bpm::FitSettings settings = one_thread();
  settings.strategy = bpm::Strategy::dense;
  return bpm::OneVsRest(bpm::BayesPointMachine(kernel, sampler, test_support::hard(settings)))
      .fit(problem.inputs, problem.labels);
}

/// Everything there is to a fitted machine, and of its report what does not depend on ranks.
template <class Fitted>
std::uint64_t bits_of(const Fitted& fitted) {
  bpm::detail::WordHash hash;
  for (Eigen::Index i = 0; i < fitted.coefficients().size(); ++i) {
    hash.add(fitted.coefficients().data()[i]);
  }
  for (const bpm::PointIndex i : fitted.support()) hash.add(static_cast<std::uint64_t>(i));
  for (std::size_t c = 0; c < static_cast<std::size_t>(fitted.columns()); ++c) {
    hash.add(fitted.mean_norm(c));
    hash.add(fitted.training_margin(c));
  }
  hash.add(fitted.report().draws);
  hash.add(fitted.report().perceptron->mistakes);
  hash.add(fitted.report().perceptron->passes);
  hash.add(fitted.report().perceptron->training_errors);
  return hash.value();
}

/// Whether all ranks have the same.
template <class T>
bool same_on_all(const T& mine) {
  const bpm::detail::Communicator ranks(MPI_COMM_WORLD);
  bool same = true;
  for (const T& other : ranks.all_gather(mine)) same = same && other == mine;
  return same;
}
inline bool same_text_on_all(const std::string& mine) {
  bpm::detail::WordHash hash;
  hash.add_bytes(mine.data(), mine.size());
  return same_on_all(hash.value());
}

inline int rank() {
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  return number;
}
inline void meet() { MPI_Barrier(MPI_COMM_WORLD); }

/// A folder that all ranks share, empty at first and gone at the end.
class SharedFolder {
 public:
  explicit SharedFolder(const std::string& name)
      : path_(std::filesystem::current_path() / ("bpm_ranks_" + name)) {
    if (rank() == 0) std::filesystem::remove_all(path_);
    meet();
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder() {
    meet();
    if (rank() == 0) std::filesystem::remove_all(path_);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rank_tests
