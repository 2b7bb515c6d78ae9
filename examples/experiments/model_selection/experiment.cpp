// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/decision/votes.hpp"
#include "bpm/gaussian_process/expectation_propagation/expectation_propagation.hpp"
#include "bpm/gaussian_process/interpolation/kernel_complexity.hpp"
#include "bpm/gaussian_process/selection/grid_search.hpp"
#include "bpm/gaussian_process/selection/nlopt_search.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/version_space/version_space.hpp"
#include "common/machine_info.hpp"

namespace bpm_examples {

namespace {

/// One training subset and the kernels on it.
class Subset {
 public:
  Subset(const EvenOdd& digits, const SelectionOptions& options, std::uint64_t number)
      : digits_(digits),
        threads_(static_cast<unsigned>(options.common.threads)),
        number_(number),
        train_(random_subset(digits, options.train,
                             bpm::RandomStreams{.seed = options.common.seed}.stream(number))) {
    // The scale of distances: a median over some pairs.
    std::vector<double> distances;
    const Eigen::Index n = train_.inputs.rows();
    for (Eigen::Index i = 0; i < n; ++i) {
      const Eigen::Index j = (i + n / 2) % n;
      distances.push_back((train_.inputs.row(i) - train_.inputs.row(j)).norm());
    }
    const auto middle = distances.begin() + std::ssize(distances) / 2;
    std::ranges::nth_element(distances, middle);
    median_ = *middle;
  }

  [[nodiscard]] ScoredKernel score(const KernelChoice& choice) const {
    if (choice.family == "gaussian") {
      return score_with(bpm::Gaussian::from_sigma(choice.parameter * median_), choice);
    }
    return score_with(bpm::ArcCosine(static_cast<int>(std::lround(choice.parameter))), choice);
  }

 private:
  template <class Kernel>
  [[nodiscard]] ScoredKernel score_with(const Kernel& kernel, const KernelChoice& choice) const {
    ScoredKernel result{
        .kernel = choice,
        .subset = number_,
        .score = bpm::KernelScore(kernel, train_.inputs, train_.signs, {}, threads_)};
    if (!result.score.failure.empty()) {
      return result;
    }
    const bpm::KernelMatrixSettings settings{.threads = threads_};
    const bpm::RowMatrix<double> gram = bpm::kernel_matrix(kernel, train_.inputs, settings);
    const Eigen::MatrixXd cross =
        bpm::kernel_matrix(kernel, digits_.test.inputs, train_.inputs, settings);
    const bpm::PrecomputedGram<double> values(gram);
    const bpm::KernelVersionSpace<double> space(values, train_.signs);
    const bpm::EpPosterior posterior = bpm::expectation_propagation(space);
    const Eigen::Map<const Eigen::VectorXd> alpha(posterior.coefficients.data(),
                                                  std::ssize(posterior.coefficients));
    result.centre_error = bpm::error_of_outputs(cross * alpha, digits_.test.signs);
    const bpm::JitteredCholesky factor(gram);
    result.centroidal_error =
        bpm::error_of_outputs(cross * factor.solve(train_.labels()), digits_.test.signs);
    return result;
  }

  const EvenOdd& digits_;
  unsigned threads_;
  std::uint64_t number_;
  SignedDigits train_;
  double median_ = 1;
};

std::vector<KernelChoice> grid() {
  std::vector<KernelChoice> choices;
  for (const double width : bpm::geometric_values(0.1, 10, 13)) {
    choices.push_back({"gaussian", width});
  }
  for (const int depth : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24}) {
    choices.push_back({"arc-cosine", static_cast<double>(depth)});
  }
  return choices;
}

/// Larger is better.
double value_of(const ScoredKernel& kernel, const std::string& criterion) {
  if (criterion == "evidence") return kernel.score.log_evidence;
  if (criterion == "c-bound") return -kernel.score.c_bound;
  return -kernel.centre_error;
}

}  // namespace

SelectionResult run_selection(const EvenOdd& digits, const SelectionOptions& options,
                              const SelectionObserver& observer) {
  const WallTimer timer;
  SelectionResult result;
  const std::vector<KernelChoice> kernels = grid();
  for (std::uint64_t number = 0; number < options.subsets; ++number) {
    const auto tell = [&](double part) {
      const bpm::Progress now{
          .stage = "kernels",
          .fraction = (static_cast<double>(number) + part) / static_cast<double>(options.subsets)};
      if (!observer(now)) throw bpm::Stopped("stopped");
    };
    const Subset subset(digits, options, number);
    const std::size_t first = result.kernels.size();
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      tell(0.5 * static_cast<double>(k) / static_cast<double>(kernels.size()));
      result.kernels.push_back(subset.score(kernels[k]));
    }
    for (const char* criterion : {"evidence", "c-bound", "held-out"}) {
      const auto begin = result.kernels.begin() + static_cast<std::ptrdiff_t>(first);
      const auto best = std::max_element(begin, result.kernels.end(),
                                         [&](const ScoredKernel& a, const ScoredKernel& b) {
                                           return value_of(a, criterion) < value_of(b, criterion);
                                         });
      result.choices.push_back({.criterion = criterion,
                                .search = "grid",
                                .subset = number,
                                .evaluations = kernels.size(),
                                .chosen = *best});
    }
    // The width of the Gaussian once more, without a grid.
    for (const char* criterion : {"evidence", "c-bound"}) {
      std::size_t evaluations = 0;
      const auto score = [&](const std::vector<double>& log_width) {
        tell(0.5 + 0.01 * static_cast<double>(evaluations++));
        return value_of(subset.score({"gaussian", std::exp(log_width[0])}), criterion);
      };
      const bpm::SearchResult found = bpm::nlopt_search(score, {0.0},
                                                        {.lower = {std::log(0.1)},
                                                         .upper = {std::log(10.0)},
                                                         .tolerance = 0.02,
                                                         .max_evaluations = 25});
      result.choices.push_back({.criterion = criterion,
                                .search = "nlopt",
                                .subset = number,
                                .evaluations = found.points.size(),
                                .chosen = subset.score({"gaussian", std::exp(found.best[0])})});
    }
  }
  result.seconds = timer.seconds();
  return result;
}

}  // namespace bpm_examples
