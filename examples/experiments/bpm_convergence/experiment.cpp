// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/samplers/chains/largest_margin.hpp"
#include "bpm/version_space/cone.hpp"
#include "bpm/version_space/version_space.hpp"
#include "common/billiard_chain.hpp"
#include "common/svm.hpp"
#include "common/tasks.hpp"
#include "trace.hpp"

namespace bpm_examples {

namespace {

constexpr std::array flights{Flight::published, Flight::geodesic};

/// Mean path between new directions of the geodesic flight. A burn-in would choose it, but bounces
/// are counted here from the start. With 1 to 3 the rows of 1000 bounces and more hardly differ.
constexpr double refresh_length = 2;

/// Streams of random numbers of one seed: what is drawn for one purpose moves nothing else.
enum class Purpose : std::uint64_t { data, split, flight };

bpm::RandomEngine engine_of(std::uint64_t seed, Purpose purpose, int table, std::uint64_t row = 0,
                            std::uint64_t split = 0) {
  const auto number = static_cast<std::uint64_t>(table);
  return bpm::RandomEngine(seed,
                           ((split * 1000000 + row) * 10 + number) * 3 + std::uint64_t(purpose));
}

/// One split of a data set, learned by the SVM.
struct Learner {
  const SeparableData& data;
  PointSplit split;
  std::vector<int> labels;
  SvmClassifier svm;
  bpm::Cone cone;
  std::vector<double> start;  ///< Coordinates, inside version space.

  [[nodiscard]] double accuracy(const Eigen::VectorXd& coefficients) const {
    const Eigen::VectorXd outputs = data.kernel(split.test, split.train) * coefficients;
    int right = 0;
    for (std::size_t i = 0; i < split.test.size(); ++i) {
      const int label = data.labels[static_cast<std::size_t>(split.test[i])];
      right += label * outputs[static_cast<Eigen::Index>(i)] > 0 ? 1 : 0;
    }
    return 100.0 * right / static_cast<double>(split.test.size());
  }
};

bpm::Cone cone_of(const bpm::RowMatrix<double>& kernel, const std::vector<int>& labels) {
  const bpm::PrecomputedGram<double> gram(kernel);
  const bpm::KernelVersionSpace space(gram, {labels.begin(), labels.end()});
  bpm::Cone cone = bpm::Cone(space);
  cone.form_products();
  return cone;
}

Learner make_learner(const SeparableData& data, const PointSplit& split) {
  std::vector<int> labels;
  labels.reserve(split.train.size());
  for (const Eigen::Index i : split.train) labels.push_back(data.labels[std::size_t(i)]);
  const bpm::RowMatrix<double> kernel = data.kernel(split.train, split.train);
  // Both kernels have a constant among their features, or nearly so; like the paper's SVM, ours
  // has no other offset and lies in version space.
  Learner learner{data,
                  split,
                  labels,
                  train_svm(kernel, labels, {.bias = SvmBias::none}),
                  cone_of(kernel, labels),
                  {}};
  const auto& alpha = learner.svm.coefficients;
  learner.start = learner.svm.margin > 0
                      ? learner.cone.coordinates({alpha.data(), std::size_t(alpha.size())})
                      : bpm::LargestMargin::find(learner.cone).position;
  double squared = 0;
  for (const double x : learner.start) squared += x * x;
  for (double& x : learner.start) x /= std::sqrt(squared);
  return learner;
}

/// What one billiard finds.
struct BilliardResult {
  double accuracy = 0;
  double d_svm = 0;
  double lambda_max = 0;
  double delta_alpha = 0;
};

BilliardResult run_billiard(const Learner& learner, Flight flight, std::uint64_t bounces,
                            bpm::RandomEngine engine,
                            const std::function<void(std::uint64_t, double)>& each = nullptr) {
  BilliardChainSettings settings;
  settings.flight = flight;
  settings.refresh_length = refresh_length;
  BilliardChain chain(learner.cone, settings, learner.start, engine);
  const Course course = follow(chain, learner.cone, bounces, each);
  const auto& centre = course.centre;
  const Eigen::Map<const Eigen::VectorXd> alpha(centre.coefficients.data(), train_size);
  const Eigen::Map<const Eigen::VectorXd> outputs(centre.outputs.data(), train_size);
  // <w, w'> by the centre's outputs, whatever the condition of the kernel matrix.
  const double cosine = learner.svm.coefficients.dot(outputs) / (learner.svm.norm * centre.norm);
  return {learner.accuracy(alpha), std::sqrt(std::max(0.0, 2 - 2 * cosine)), course.lambda_max,
          course.delta_alpha};
}

/// One split of one row.
struct SplitResult {
  double svm_accuracy = 0;
  double support_vectors = 0;
  std::array<BilliardResult, 2> billiards;
};

template <class Value>
Spread spread_of(std::span<const SplitResult> results, Value value) {
  const auto n = static_cast<double>(results.size());
  Spread spread;
  for (const auto& result : results) spread.mean += value(result) / n;
  double squares = 0;
  for (const auto& result : results) squares += std::pow(value(result) - spread.mean, 2);
  spread.deviation = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return spread;
}

ResultRow row_of(const TableSettings& table, std::uint64_t bounces, std::size_t flight,
                 std::span<const SplitResult> results) {
  const auto billiard = [flight](double BilliardResult::*member) {
    return [flight, member](const SplitResult& r) { return r.billiards[flight].*member; };
  };
  ResultRow row;
  row.table = table;
  row.bounces = bounces;
  row.flight = flight_names[flight];
  row.svm_accuracy = spread_of(results, [](const SplitResult& r) { return r.svm_accuracy; });
  row.bpm_accuracy = spread_of(results, billiard(&BilliardResult::accuracy));
  row.d_svm = spread_of(results, billiard(&BilliardResult::d_svm)).mean;
  row.lambda_max = spread_of(results, billiard(&BilliardResult::lambda_max)).mean;
  row.support_vectors =
      spread_of(results, [](const SplitResult& r) { return r.support_vectors; }).mean;
  row.delta_alpha = spread_of(results, billiard(&BilliardResult::delta_alpha)).mean;
  return row;
}

SeparableData data_of(const ConvergenceOptions& options, const TableSettings& table) {
  return make_separable_data(table, options.range,
                             engine_of(options.common.seed, Purpose::data, table.number));
}

/// Tells of work in parallel, weighed by its bounces.
class Tally {
 public:
  Tally(const char* stage, double all, const std::function<void(const bpm::Progress&)>& progress)
      : stage_(stage), all_(all), progress_(progress) {}
  void add(double part) {
    const std::scoped_lock lock(mutex_);
    done_ += part;
    progress_({.stage = stage_, .fraction = std::min(1.0, done_ / all_)});
  }

 private:
  const char* stage_;
  double all_;
  double done_ = 0;
  const std::function<void(const bpm::Progress&)>& progress_;
  std::mutex mutex_;
};

}  // namespace

std::vector<ResultRow> run_tables(const ConvergenceOptions& options,
                                  const std::function<void(const bpm::Progress&)>& progress) {
  struct Row {
    TableSettings table;
    const SeparableData* data;
    std::uint64_t bounces;
    std::vector<SplitResult> results;
  };
  std::vector<SeparableData> data;
  data.reserve(options.tables.size());
  std::vector<Row> rows;
  double all = 0;
  const auto splits = static_cast<std::size_t>(options.splits);
  for (const int number : options.tables) {
    const TableSettings& table = paper_tables[std::size_t(number) - 1];
    data.push_back(data_of(options, table));
    for (const std::uint64_t bounces : paper_bounces) {
      if (bounces <= options.bounces) {
        rows.push_back({table, &data.back(), bounces, std::vector<SplitResult>(splits)});
        all += static_cast<double>(bounces * splits);
      }
    }
  }
  Tally tally("splits", all, progress);
  run_tasks(options.common.threads, rows.size() * splits, [&](std::size_t task) {
    Row& row = rows[task / splits];
    const std::uint64_t split = task % splits;
    const auto engine = [&](Purpose purpose) {
      return engine_of(options.common.seed, purpose, row.table.number, row.bounces, split + 1);
    };
    const Learner learner = make_learner(*row.data, make_split(engine(Purpose::split)));
    SplitResult& result = row.results[split];
    result.svm_accuracy = learner.accuracy(learner.svm.coefficients);
    result.support_vectors = static_cast<double>(learner.svm.support_vectors);
    for (std::size_t f = 0; f < flights.size(); ++f) {
      result.billiards[f] = run_billiard(learner, flights[f], row.bounces, engine(Purpose::flight));
    }
    tally.add(static_cast<double>(row.bounces));
  });
  std::vector<ResultRow> table;
  for (const Row& row : rows) {
    for (std::size_t f = 0; f < flights.size(); ++f) {
      table.push_back(row_of(row.table, row.bounces, f, row.results));
    }
  }
  return table;
}

std::vector<BouncePanel> run_panels(const ConvergenceOptions& options,
                                    const std::function<void(const bpm::Progress&)>& progress) {
  std::vector<BouncePanel> panels(4);
  // A point of the curve every so many bounces, but all of the first hundred.
  const std::uint64_t every = std::max<std::uint64_t>(1, options.bounces / 1000);
  Tally tally("figure", 4, progress);
  run_tasks(options.common.threads, 4, [&](std::size_t p) {
    BouncePanel& panel = panels[p];
    panel.table = paper_tables[p];
    const auto engine = [&](Purpose purpose) {
      return engine_of(options.common.seed, purpose, panel.table.number);
    };
    const SeparableData data = data_of(options, panel.table);
    const Learner learner = make_learner(data, make_split(engine(Purpose::split)));
    panel.support_vectors = learner.svm.support_vectors;
    for (std::size_t f = 0; f < flights.size(); ++f) {
      run_billiard(learner, flights[f], options.bounces, engine(Purpose::flight),
                   [&](std::uint64_t n, double delta) {
                     if (n >= 2 && (n <= 100 || n % every == 0)) {
                       if (f == 0) panel.bounces.push_back(static_cast<double>(n));
                       panel.delta_alpha[f].push_back(delta);
                     }
                   });
    }
    tally.add(1);
  });
  return panels;
}

}  // namespace bpm_examples
