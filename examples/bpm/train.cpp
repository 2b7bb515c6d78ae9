// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <sstream>
#include <tuple>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/decision/evaluation.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "commands.hpp"
#include "common/chain_check.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/machine_info.hpp"
#include "common/plot.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "fit.hpp"
#include "model.hpp"
#include "text.hpp"

namespace bpm_examples {

namespace {

/// The rows that train, and those that a guarantee is shown on.
struct TrainingData {
  Data train;
  Data held_out;  ///< No rows where none are wanted.
};

/// The numbers of rows that train, and of those held out.
struct Parts {
  std::vector<bpm::PointIndex> train;
  std::vector<bpm::PointIndex> held_out;
};

/// Takes a share away, drawn by the seed: independent of everything, as the guarantee asks.
[[nodiscard]] Parts draw_parts(std::size_t count, const TrainOptions& options) {
  const double share = options.held_out_share;
  const auto aside = static_cast<std::size_t>(std::lround(share * static_cast<double>(count)));
  if (aside == 0 || aside == count) {
    throw bpm::DataError(options.data + ": has " + count_text(count, "row", "rows") +
                         ", of which --held-out leaves none to train, or takes none");
  }
  std::vector<bpm::PointIndex> order(count);
  bpm::RandomEngine engine(options.common.seed, ~std::uint64_t{1});  // A stream that no draw has.
  bpm::random_permutation(std::span(order), engine);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(aside);
  std::ranges::sort(order.begin(), middle);
  std::ranges::sort(middle, order.end());
  return {{middle, order.end()}, {order.begin(), middle}};
}

/// A hash a row, of what is not 0 in it and where: the same however the rows are kept.
[[nodiscard]] std::vector<std::uint64_t> hashes_of(const Data& data) {
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(data.rows()));
  std::visit(
      [&]<class Rows>(const Rows& rows) {
        for (Eigen::Index i = 0; i < rows.rows(); ++i) {
          std::uint64_t hash = 14695981039346656037U;  // FNV-1a, of words.
          const auto add = [&](Eigen::Index column, double value) {
            if (value == 0) return;
            for (const std::uint64_t word :
                 {static_cast<std::uint64_t>(column), std::bit_cast<std::uint64_t>(value)}) {
              hash = (hash ^ word) * 1099511628211U;
              hash ^= hash >> 29U;
            }
          };
          if constexpr (requires {
                          typename Rows::InnerIterator;
                          rows.isCompressed();
                        }) {
            for (typename Rows::InnerIterator entry(rows, i); entry; ++entry) {
              add(entry.col(), static_cast<double>(entry.value()));
            }
          } else {
            for (Eigen::Index j = 0; j < rows.cols(); ++j) add(j, static_cast<double>(rows(i, j)));
          }
          hashes[static_cast<std::size_t>(i)] = hash;
        }
      },
      data.inputs);
  return hashes;
}

/// Says how many rows held out train as well. Where most of them do, and more than rows of the
/// training set occur there twice, they are no new ones, and no guarantee can come of them.
void check_held_out(const Data& train, const Data& held_out) {
  std::vector<std::uint64_t> known = hashes_of(train);
  std::ranges::sort(known);
  const auto occurs = [&](std::uint64_t hash) {
    const auto [first, last] = std::ranges::equal_range(known, hash);
    return last - first;
  };
  std::size_t both = 0;
  for (const std::uint64_t hash : hashes_of(held_out)) both += occurs(hash) > 0 ? 1U : 0U;
  if (both == 0) return;
  double twice = 0;
  for (const std::uint64_t hash : known) twice += occurs(hash) > 1 ? 1 : 0;
  const double natural = twice / static_cast<double>(known.size());
  const auto rows = static_cast<double>(held_out.rows());
  const double expected = rows * natural + 5 * std::sqrt(rows * natural * (1 - natural));
  const std::string found = std::to_string(both) + " of the " +
                            count_text(static_cast<std::size_t>(held_out.rows()), "row", "rows") +
                            " held out are rows that train as well";
  if (2 * static_cast<double>(both) > rows && static_cast<double>(both) > expected) {
    throw bpm::DataError(held_out.name + ": " + found +
                         ": a guarantee needs rows that train nothing");
  }
  std::cerr << "bpm: note: " << held_out.name << ": " << found
            << ": the guarantee holds if that is chance, not if they are copies\n";
}

/// How many rows repeat the numbers of one before them.
[[nodiscard]] std::size_t count_copies(const Data& data) {
  std::vector<std::uint64_t> hashes = hashes_of(data);
  std::ranges::sort(hashes);
  std::size_t copies = 0;
  for (std::size_t i = 1; i < hashes.size(); ++i) copies += hashes[i] == hashes[i - 1] ? 1U : 0U;
  return copies;
}

[[nodiscard]] std::string name_of(const Data& data, int label) {
  return data.class_names.empty() ? std::to_string(label)
                                  : data.class_names[static_cast<std::size_t>(label)];
}

/// Before the work: labels that look like a quantity, or names of rows, and no classes. A note
/// where that may be; an error unless `many` allows it.
void check_classes(const Data& data, bool many) {
  const std::set<int> classes(data.labels.begin(), data.labels.end());
  constexpr std::size_t some = 20;
  constexpr std::size_t enough = 10;  // Rows of a class.
  if (classes.size() <= some) return;
  const bool numbers = data.class_names.empty();
  const std::string found = data.name + ": found " +
                            count_text(classes.size(), "class", "classes") + " in " +
                            count_text(data.labels.size(), "row", "rows");
  if (data.labels.size() < enough * classes.size() && !many) {
    throw bpm::DataError(found + ", expected ten rows of a class and more; is the label " +
                         (numbers ? "a quantity (regression is not here), or " : "") +
                         "another column (--label)? --many-classes goes on");
  }
  if (numbers && data.format == "csv") {
    std::cerr
        << "bpm: note: " << found
        << ", all whole numbers: of a quantity, classes do not know the order; if the label is "
           "another column, name it by --label\n";
  }
}

/// Before the training, which would be lost: every class held out is one that trains.
void check_labels(const Data& train, const Data& held_out) {
  std::set<std::string> found;
  for (const int label : train.labels) found.insert(name_of(train, label));
  const std::vector<std::string> known(found.begin(), found.end());
  for (const int label : held_out.labels) {
    if (place_of_label(known, held_out, label) == known.size()) {
      throw bpm::DataError(held_out.name + ": found the label '" + name_of(held_out, label) +
                           "', which no row that trains has");
    }
  }
}

[[nodiscard]] TrainingData read_training(const TrainOptions& options) {
  const bool share = options.held_out_share > 0;
  const auto training = [&](std::size_t count) { return draw_parts(count, options).train; };
  Data data = read_data(options.data, options.read, true, {}, share ? training : TrainingRows());
  for (const std::string& note : data.notes) std::cerr << "bpm: note: " << note << '\n';
  check_classes(data, options.many_classes);
  if (share) {
    const Parts parts = draw_parts(static_cast<std::size_t>(data.rows()), options);
    TrainingData result{data.part(parts.train), data.part(parts.held_out)};
    result.train.name += " without the rows held out";
    check_held_out(result.train, result.held_out);
    return result;
  }
  TrainingData result{std::move(data), {}};
  if (!options.held_out_file.empty()) {
    ReadOptions read = options.read;
    if (result.train.format == "idx") read.label.clear();  // The labels of those that train.
    result.held_out =
        read_data(options.held_out_file, read, true,
                  {result.train.columns(), result.train.feature_names, result.train.encoding});
    for (const std::string& note : result.held_out.notes) {
      std::cerr << "bpm: note: " << note << '\n';
    }
    check_labels(result.train, result.held_out);
    check_held_out(result.train, result.held_out);
  }
  return result;
}

/// Whether rows rounded to floats before they are scaled, as queries of a model of floats are, tell
/// a ten-thousandth of each column's deviation.
[[nodiscard]] bool floats_suffice_unscaled(const bpm::Standardisation& scaling) {
  for (Eigen::Index c = 0; c < scaling.mean.size(); ++c) {
    if (std::ranges::find(scaling.constant, c) == scaling.constant.end() &&
        std::abs(scaling.mean[c]) > 1000 * scaling.deviation[c]) {
      return false;
    }
  }
  return true;
}

/// The rows as the sampler takes them: those that see a cone ask for all kernel values, and rows
/// are few; perceptrons take bytes and sparse rows as they are, and many rows as floats.
void prepare(const TrainOptions& options, Data& data,
             std::optional<bpm::Standardisation>& scaling) {
  if (options.standardise.value_or(false)) {
    const bpm::RowMatrix<double> rows = dense_numbers(data.inputs, options.memory);
    const auto indicators =
        data.encoding ? data.encoding->indicators() : std::vector<Eigen::Index>{};
    scaling = bpm::Standardisation::of(rows, indicators);
    data.inputs = scaling->apply(rows);
  } else if (options.sampler != "perceptron") {
    data.inputs = dense_numbers(data.inputs, options.memory);
  }
  if (options.sampler != "perceptron") return;
  if (const auto* rows = std::get_if<bpm::RowMatrix<double>>(&data.inputs);
      rows != nullptr && floats_suffice(*rows) && (!scaling || floats_suffice_unscaled(*scaling))) {
    data.inputs = bpm::RowMatrix<float>(rows->cast<float>());
  }
}

[[nodiscard]] double median_of(const Inputs& inputs, bool unit) {
  return std::visit(
      [unit](const auto& rows) {
        if (!unit) return bpm::median_distance(rows);
        // Of the rows scaled to norm 1.
        auto scaled = [&] {
          if constexpr (requires { rows.isCompressed(); }) {
            return rows;
          } else {
            return bpm::RowMatrix<double>(rows.template cast<double>());
          }
        }();
        for (Eigen::Index i = 0; i < scaled.rows(); ++i) {
          const double norm = scaled.row(i).norm();
          if (norm > 0) scaled.row(i) *= 1 / norm;
        }
        return bpm::median_distance(scaled);
      },
      inputs);
}

/// Sparse rows point in so many directions that hardly any two are near each other.
[[nodiscard]] bool is_sparse(const Data& data) {
  return std::holds_alternative<bpm::SparseRowMatrix<double>>(data.inputs);
}

/// Of widths that are so many times the median distance.
[[nodiscard]] std::vector<bpm::RuntimeKernel> gaussians(const TrainOptions& options,
                                                        const Data& data,
                                                        const std::vector<double>& factors) {
  const double median = median_of(data.inputs, options.normalise);
  if (!(median > 0)) {
    throw bpm::DataError(data.name +
                         ": no two rows at a distance above 0 were found; give --width W");
  }
  std::vector<bpm::RuntimeKernel> kernels;
  for (const double factor : factors) {
    kernels.emplace_back(bpm::Gaussian::from_width(factor * median));
    if (options.normalise) kernels.back() = bpm::on_unit_inputs(kernels.back());
  }
  return kernels;
}

/// The kernels to choose from, or the one.
[[nodiscard]] std::vector<bpm::RuntimeKernel> make_kernels(const TrainOptions& options,
                                                           const Data& data) {
  std::vector<bpm::RuntimeKernel> kernels;
  if (options.libsvm) {
    const LibsvmKernel& svm = *options.libsvm;
    const double gamma =
        svm.gamma.value_or(1.0 / static_cast<double>(std::max<Eigen::Index>(1, data.columns())));
    if (svm.type == 0) {
      kernels.emplace_back(bpm::Linear{});
    } else if (svm.type == 1) {
      kernels.emplace_back(bpm::Polynomial(svm.degree, gamma, svm.offset));
    } else {
      kernels.emplace_back(bpm::Gaussian::from_gamma(gamma));
    }
  } else if (options.kernel == "polynomial") {
    for (const int degree : options.degrees) {
      kernels.emplace_back(bpm::Polynomial(degree, 1, options.offset));
    }
  } else if (options.kernel == "arc-cosine") {
    for (const int depth : options.depths) kernels.emplace_back(bpm::ArcCosine(depth));
  } else if (options.kernel == "linear" || (!options.kernel_given && is_sparse(data))) {
    kernels.emplace_back(bpm::Linear{});
  } else if (!options.widths.empty()) {
    for (const double width : options.widths) {
      kernels.emplace_back(bpm::Gaussian::from_width(width));
    }
  } else {
    return gaussians(
        options, data,
        options.choosing ? std::vector{0.25, 0.5, 1.0, 2.0} : std::vector{usual_width});
  }
  if (options.normalise) {
    for (bpm::RuntimeKernel& kernel : kernels) kernel = bpm::on_unit_inputs(kernel);
  }
  return kernels;
}

/// One weight per label.
[[nodiscard]] std::vector<std::pair<int, double>> make_weights(const TrainOptions& options,
                                                               const Data& data) {
  std::map<int, double> counts;
  for (const int label : data.labels) ++counts[label];
  std::vector<std::pair<int, double>> weights;
  if (options.balanced) {
    const double mean =
        static_cast<double>(data.labels.size()) / static_cast<double>(counts.size());
    for (const auto& [label, count] : counts) weights.emplace_back(label, mean / count);
    return weights;
  }
  for (const auto& [name, weight] : options.class_weights) {
    // As LIBSVM's files write it: +1.
    const bool plus = data.class_names.empty() && name.starts_with('+');
    const auto found = std::ranges::find_if(counts, [&](const auto& one) {
      return name_of(data, one.first) == (plus ? name.substr(1) : name);
    });
    if (found == counts.end()) {
      throw bpm::DataError(data.name + ": has no class '" + name + "' for --class-weights");
    }
    weights.emplace_back(found->first, weight);
  }
  return weights;
}

/// How many rows are not alone in their class: those that can be left out.
[[nodiscard]] std::size_t rows_to_leave_out(const std::vector<int>& labels) {
  std::map<int, std::size_t> counts;
  for (const int label : labels) ++counts[label];
  std::size_t rows = 0;
  for (const auto& [label, count] : counts) rows += count > 1 ? count : 0;
  return rows;
}

[[nodiscard]] std::uint64_t draws_of(const TrainOptions& options, const Data& data) {
  const std::uint64_t usual =
      options.sampler == "perceptron" ? usual_draws(data.labels.size()) : 100;
  return options.draws.value_or(usual);
}

[[nodiscard]] FitTask make_task(const TrainOptions& options, const Data& data) {
  FitTask task;
  task.choosing = options.choosing;
  task.kernels = make_kernels(options, data);
  bpm::FitSettings& settings = task.settings;
  settings.seed = options.common.seed;
  settings.threads = static_cast<unsigned>(options.common.threads);
  settings.memory = options.memory;
  settings.bias = options.bias;
  // Of sparse rows, mostly of norm 1, a bias of 1 is as much as all features together.
  if (!options.bias && is_sparse(data)) settings.bias = 0.3;
  // The evidence judges expectation propagation, at one bias. With a boundary that is given width
  // and bias are the default ones, unless `choose` compares.
  const bool judged = (options.choosing || options.soft_boundary.empty()) &&
                      options.sampler != "ep" && rows_to_leave_out(data.labels) >= 5;
  if (judged && !options.bias) task.biases = usual_biases;
  // Under class weights the best width by the log loss would leave a boundary that is nearly hard,
  // of which weights change nothing.
  const bool weighted = options.balanced || !options.class_weights.empty();
  if (judged && (options.choosing || !weighted) && !options.libsvm &&
      options.kernel == "gaussian" && options.widths.empty()) {
    constexpr Eigen::Index many = 20000;  // Rows for which only the linear kernel is quick.
    if (!is_sparse(data) || options.kernel_given) {
      task.kernels = gaussians(options, data, widths_to_try(task));
    } else if (data.rows() < many) {
      const auto tried = gaussians(
          options, data, options.choosing ? std::vector{0.5, 1.0} : std::vector{usual_width});
      task.kernels.insert(task.kernels.begin(), tried.begin(), tried.end());
    }
  }
  task.by_error = options.by_error;
  if (!options.soft_boundary.empty()) {
    settings.soft_boundary = bpm::SoftBoundary::automatic().with_factor(options.soft_boundary[0]);
    task.relative_lambdas = options.soft_boundary;
  }
  if (auto weights = make_weights(options, data); !weights.empty()) {
    settings.soft_boundary = settings.soft_boundary.with_class_weights(std::move(weights));
  }
  task.sampler = options.sampler;
  task.draws = draws_of(options, data);
  task.folds = options.folds;
  task.fit = !options.model.empty();
  task.checkpoint = options.checkpoint;
  task.resume = options.resume;
  // A folder holds the draws of one machine.
  task.one_against_one = task.checkpoint.empty() && (task.choosing || !task.biases.empty());
  return task;
}

/// Refuses what no machine can be of.
void check_rows(const TrainOptions& options, const Data& data) {
  const auto rows = static_cast<std::size_t>(data.rows());
  std::map<int, std::size_t> counts;
  for (const int label : data.labels) ++counts[label];
  if (counts.size() == 1) {
    throw bpm::DataError(data.name + ": " +
                         (rows == 1 ? "has 1 row that trains, of"
                                    : "all " + std::to_string(rows) + " rows that train are of") +
                         " the class '" + name_of(data, data.labels.front()) +
                         "', expected two classes or more; --label names the labels' column");
  }
  if (options.choosing || options.folds > 0) {
    const std::size_t dealt = rows_to_leave_out(data.labels);
    const std::size_t folds = options.folds > 0 ? options.folds : 5;
    if (dealt < folds) {
      throw bpm::DataError(data.name + ": has " + count_text(dealt, "row", "rows") +
                           " that are not alone in their class, too few for " +
                           std::to_string(folds) + " folds");
    }
  }
}

/// Refuses rows of zeros where the kernel sees directions only.
void check_directions(const TrainOptions& options, const Data& data) {
  const bool arc_cosine = options.kernel == "arc-cosine" && !options.libsvm;
  if (!options.normalise && !arc_cosine) return;
  if (const auto row = zero_row(data.inputs)) {
    throw bpm::DataError(data.name + ": row " + std::to_string(*row + 1) + " is all zeros" +
                         (options.standardise.value_or(false) ? " once it is standardised" : "") +
                         ", which has no direction; leave the row out, or " +
                         (options.normalise ? "leave out --normalise" : "take another kernel"));
  }
}

/// Refuses weights of what has none, before the work is done.
void check_weights(const TrainOptions& options, const FitTask& task) {
  if (!options.weights_only) return;
  if (options.sampler == "ep") {
    throw UsageError("--weights-only: --sampler ep has variances beside its weights");
  }
  if (options.normalise) {
    throw UsageError("--weights-only: weights are of rows as they are, leave out --normalise");
  }
  for (const bpm::RuntimeKernel& kernel : task.kernels) {
    if (words_of(kernel).name != "linear") {
      throw UsageError("--weights-only: the kernel is " + words_of(kernel).formula +
                       ", and --kernel linear alone has weights");
    }
  }
}

/// The fit, with what to type where it fails.
[[nodiscard]] FitOutcome fit(const FitTask& task, const Data& data, const Watch& watch) {
  const auto fail = [&](const std::exception& error, const char* cure) {
    throw std::runtime_error(in_words_of(data.name, error.what()) + " (" + cure + ")");
  };
  try {
    return fit_machine(task, data.inputs, data.labels, watch);
  } catch (const bpm::NotSeparable& error) {
    fail(error, "here: leave --soft-boundary automatic, or give a larger number");
  } catch (const bpm::BudgetTooSmall& error) {
    fail(error, "here: a larger --memory");
  } catch (const bpm::KernelValueError& error) {
    fail(error, "here: --standardise, or --normalise");
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(in_words_of(data.name, error.what()));
  }
  return {};
}

/// Log losses out of fold of a part of the rows, of their columns as they are and standardised;
/// infinite where no machine was consistent.
struct JudgedScaling {
  double plain = std::numeric_limits<double>::infinity();
  double standardised = std::numeric_limits<double>::infinity();
  std::size_t rows = 0;
};

/// Of tables where nothing says whether to standardise: widths and LIBSVM's numbers are of columns
/// as they are.
[[nodiscard]] std::optional<JudgedScaling> judge_scaling(const TrainOptions& options,
                                                         const Data& data, const Watch& watch) {
  if (options.standardise || data.format != "csv" || data.columns() < 2 || options.libsvm ||
      !options.widths.empty() || options.normalise) {
    return std::nullopt;
  }
  constexpr std::size_t most = 1000;
  constexpr std::size_t folds = 5;
  std::vector<bpm::PointIndex> order(static_cast<std::size_t>(data.rows()));
  bpm::RandomEngine engine(options.common.seed, ~std::uint64_t{2});  // A stream that no draw has.
  bpm::random_permutation(std::span(order), engine);
  order.resize(std::min(order.size(), most));
  std::ranges::sort(order);
  const Data part = data.part(order);
  const std::set<int> classes(part.labels.begin(), part.labels.end());
  if (classes.size() < 2 || rows_to_leave_out(part.labels) < folds) return std::nullopt;
  TrainOptions one = options;
  one.choosing = false;
  one.sampler = "perceptron";
  one.balanced = false;  // Of classes that the part may lack.
  one.class_weights.clear();
  JudgedScaling result{.rows = order.size()};
  for (const bool standardise : {false, true}) {
    one.standardise = standardise;
    Data tried = part;
    std::optional<bpm::Standardisation> scaling;
    try {
      prepare(one, tried, scaling);
      FitTask task = make_task(one, tried);
      task.choosing = true;
      task.biases.clear();
      task.one_against_one = false;
      if (task.wider > 0) task.kernels = gaussians(one, tried, {usual_width});
      task.narrower = task.wider = 0;
      task.folds = folds;
      task.fit = false;
      task.checkpoint.clear();
      const FitOutcome outcome = fit_machine(task, tried.inputs, tried.labels, watch);
      (standardise ? result.standardised : result.plain) = outcome.candidates[outcome.best].loss;
    } catch (const bpm::NotSeparable&) {
    } catch (const bpm::KernelValueError&) {
    } catch (const bpm::BudgetTooSmall& error) {  // Else the memory would choose.
      throw std::runtime_error(in_words_of(data.name, error.what()) + " (here: a larger --memory)");
    } catch (const bpm::DataError&) {         // No median distance.
    } catch (const std::invalid_argument&) {  // Numbers too small or too large to be scaled.
    }
  }
  return result;
}

/// What there is to say of a run, whatever becomes of it.
struct TrainReport {
  std::size_t rows = 0;
  std::size_t features = 0;
  std::map<int, std::size_t> class_counts;
  std::optional<ModelFacts> facts;
  std::optional<OutOfFoldResult> out_of_fold;
  std::optional<JudgedScaling> scaling;
  std::optional<double> bias;           ///< In units of the mean k(x, x), if it was chosen.
  std::optional<double> chosen_lambda;  ///< Of those that `choose` was given.
  std::optional<double> training_error;
  std::optional<bpm::CertifiedRisk> guarantee;
  std::size_t held_out = 0;
  std::vector<std::string> warnings;
  std::uint64_t draws_wanted = 0;
  double train_seconds = 0;
  std::size_t model_bytes = 0;
};

/// Whether the largest class is clearly smaller in the part that was judged than in the table: each
/// class has ten rows there, where it has them.
[[nodiscard]] bool has_rare_classes_more_often(const TrainReport& report) {
  if (!report.facts || !report.facts->boundary) return false;
  std::size_t largest = 0;
  for (const auto& [label, count] : report.class_counts) largest = std::max(largest, count);
  const double share = static_cast<double>(largest) / static_cast<double>(report.rows);
  return report.facts->boundary->largest_class < share - 0.01;
}

/// The boundary that was taken, if it was chosen; the candidate that it was.
[[nodiscard]] const bpm::ChoiceCandidate* taken_candidate(const bpm::BoundaryChoice& boundary) {
  for (const bpm::ChoiceCandidate& one : boundary.candidates) {
    if (one.consistent && one.relative_lambda == boundary.relative_lambda &&
        one.label_noise == boundary.label_noise) {
      return &one;
    }
  }
  return nullptr;
}

/// `scaled`: whether columns as they are were judged beside standardised ones; `weighted`: whether
/// there are class weights.
[[nodiscard]] std::vector<std::string> warnings_of(const ModelFacts& facts, bool scaled,
                                                   bool weighted) {
  std::vector<std::string> warnings;
  const auto unpredicted = [](const bpm::FitWarning& one) {
    return one.kind == bpm::FitWarning::Kind::class_never_predicted;
  };
  constexpr std::ptrdiff_t several = 3;
  const auto never = std::ranges::count_if(facts.warnings, unpredicted);
  if (never > several) {
    warnings.push_back(std::to_string(never) + " of " + std::to_string(facts.classes.size()) +
                       " classes are never predicted on the rows that train: --class-weights " +
                       (weighted ? "with more for them" : "balanced") + " may hold on to them");
  }
  for (const bpm::FitWarning& warning : facts.warnings) {
    if (never > several && unpredicted(warning)) continue;
    if (scaled && warning.kind == bpm::FitWarning::Kind::columns_differ_in_scale) continue;
    std::string text(warning.what());
    if (unpredicted(warning)) {
      const auto at = std::ranges::find(facts.classes, warning.label) - facts.classes.begin();
      text = "class " + facts.class_names[static_cast<std::size_t>(at)] +
             ": never predicted on the rows that train, of which it is " +
             percent_text(warning.compared) +
             (weighted ? ": --class-weights with more for it may hold on to it"
                       : ": --class-weights balanced may hold on to it");
    }
    if (warning.kind == bpm::FitWarning::Kind::width_far_from_distances) {
      text = "the width " + number_text(warning.found) + " is far from the rows' median distance " +
             number_text(warning.compared) + (facts.standardised ? ", once standardised" : "") +
             ": leave --width out";
    }
    if (warning.kind == bpm::FitWarning::Kind::columns_differ_in_scale) {
      const auto column = static_cast<std::size_t>(warning.label);
      text = "columns differ in scale: " +
             (column < facts.feature_names.size() ? "'" + facts.feature_names[column] + "'"
                                                  : "feature " + std::to_string(column + 1)) +
             " varies " + number_text(warning.found / warning.compared, 3) +
             " times as much as most, and decides alone: try --standardise";
    }
    if (warning.kind == bpm::FitWarning::Kind::far_from_origin) {
      text = text.substr(0, text.find(": ")) + ": try --standardise";
    }
    constexpr double rare = 0.25;  // All others together.
    if (warning.kind == bpm::FitWarning::Kind::no_better_than_largest_class &&
        (facts.boundary ? 1 - facts.boundary->largest_class : warning.compared) < rare &&
        facts.classes.size() == 2) {
      text += "; --class-weights balanced finds more of the rare class";
    }
    warnings.push_back(text);
  }
  if (facts.report.chains) {
    ChainCheck chains;
    chains.add(facts.report.chains->standard_error);
    if (const std::string text = chains.warning(); !text.empty()) {
      warnings.push_back(text + " (--draws)");
    }
  }
  if (facts.constant_columns > 0) {
    warnings.push_back(count_text(facts.constant_columns, "column is", "columns are") +
                       " constant, and of no use");
  }
  return warnings;
}

[[nodiscard]] Json train_json(const TrainReport& report, const TrainOptions& options,
                              const FitTask& task, const FitOutcome& outcome) {
  Json json;
  json["train_size"] = report.rows;
  json["features"] = report.features;
  json["classes"] = report.class_counts.size();
  const std::size_t kernel =
      outcome.candidates.empty() ? 0 : outcome.candidates[outcome.best].kernel;
  json["kernel"] = report.facts ? report.facts->kernel.name : words_of(task.kernels[kernel]).name;
  const auto number = [](const auto& value) { return value ? Json(*value) : Json(); };
  std::optional<double> boundary;
  if (!options.soft_boundary.empty()) boundary = options.soft_boundary.front();
  if (report.facts) {
    json["kernel_formula"] = report.facts->kernel.formula;
    json["input"] = report.facts->inputs;
    json["support"] = report.facts->support;
    if (report.facts->boundary) boundary = report.facts->boundary->relative_lambda;
  }
  json["relative_bias"] = number(report.bias ? report.bias : task.settings.bias);
  json["sampler"] = options.sampler;
  if (!outcome.candidates.empty()) {
    const bpm::ChoiceCandidate& best = outcome.candidates[outcome.best];
    if (!report.facts || !report.facts->boundary) boundary = best.relative_lambda;
  }
  json["soft_boundary"] = number(boundary);
  json["one_against_one"] = outcome.one_against_one;
  json["soft_boundary_automatic"] = options.soft_boundary.empty();
  if (report.facts && report.facts->boundary && report.facts->boundary->label_noise > 0) {
    json["label_noise"] = report.facts->boundary->label_noise;
  }
  json["draws"] = report.facts ? report.facts->report.draws : 0;
  json["training_error_percent"] =
      report.training_error ? Json(100 * *report.training_error) : Json();
  json["out_of_fold_error_percent"] =
      report.out_of_fold ? Json(100 * report.out_of_fold->error) : Json();
  json["judged_rows"] = report.out_of_fold ? Json(report.out_of_fold->rows) : Json();
  json["machine_rows"] = report.out_of_fold && report.out_of_fold->machine_rows > 0
                             ? Json(std::round(report.out_of_fold->machine_rows))
                             : Json();
  json["probability_rows"] =
      report.facts && report.facts->slope > 0 ? Json(report.facts->probability_rows) : Json();
  json["offsets"] =
      report.facts && !report.facts->offsets.empty() ? Json(report.facts->offsets) : Json();
  json["standardised"] = options.standardise.value_or(false);
  json["columns"] = report.facts && !report.facts->feature_names.empty()
                        ? Json(report.facts->feature_names)
                        : Json();
  json["out_of_fold_log_loss"] = report.out_of_fold ? Json(report.out_of_fold->loss) : Json();
  if (options.choosing) {
    Json list = Json::array();
    for (const bpm::ChoiceCandidate& one : outcome.candidates) {
      Json entry{{"kernel", one.kernel},
                 {"kernel_formula", words_of(task.kernels[one.kernel]).formula},
                 {"soft_boundary", one.relative_lambda}};
      if (one.label_noise > 0) entry["label_noise"] = one.label_noise;
      if (!task.biases.empty()) entry["bias"] = one.bias;
      if (one.one_against_one) entry["one_against_one"] = true;
      entry["log_loss"] = one.consistent ? Json(one.loss) : Json();
      entry["error_percent"] =
          one.consistent && options.sampler != "ep" ? Json(100 * one.error) : Json();
      list.push_back(std::move(entry));
    }
    json["candidates"] = std::move(list);
    json["best"] = outcome.best;
    json["moved_by_rows"] = outcome.moved_by;
    std::set<std::size_t> tried;
    for (const bpm::ChoiceCandidate& one : outcome.candidates) tried.insert(one.kernel);
    json["kernels"] = tried.size();
  }
  if (report.guarantee) {
    const bpm::CertifiedRisk& found = *report.guarantee;
    json["guaranteed"] = {{"risk_percent", 100 * found.risk},
                          {"delta", found.delta},
                          {"threshold", found.found ? Json(found.threshold) : Json()},
                          {"class", options.risk_class.empty() ? Json() : Json(options.risk_class)},
                          {"held_out", report.held_out},
                          {"coverage_percent", 100 * found.coverage},
                          {"errors", found.errors}};
  }
  json["warnings"] = report.warnings;
  json["seed"] = options.common.seed;
  json["threads"] = options.common.threads;
  json["train_seconds"] = report.train_seconds;
  json["peak_memory_bytes"] = peak_resident_bytes();
  json["model_bytes"] = report.model_bytes > 0 ? Json(report.model_bytes) : Json();
  return json;
}

void print_report(std::ostream& out, const TrainReport& report, const TrainOptions& options,
                  const Data& data) {
  std::ostringstream text;
  report_line(text, "data") << data.name << ": " << count_text(report.rows, "row", "rows") << ", "
                            << count_text(report.features, "feature", "features") << "; ";
  std::size_t named = 0;
  for (const auto& [label, count] : report.class_counts) {
    if (named > 0) text << ", ";
    if (++named > 10) {
      text << "...";
      break;
    }
    text << count << " of " << name_of(data, label);
  }
  text << '\n';
  if (report.scaling) {
    const bool standardised = options.standardise.value_or(false);
    const auto loss = [](double value) {
      return std::isfinite(value) ? "log loss " + number_text(value) : std::string("none");
    };
    report_line(text, "columns") << (standardised ? "standardised: " : "as they are: ")
                                 << loss(standardised ? report.scaling->standardised
                                                      : report.scaling->plain)
                                 << (standardised ? ", as they are " : ", standardised ")
                                 << loss(standardised ? report.scaling->plain
                                                      : report.scaling->standardised)
                                 << ", out of fold on "
                                 << count_text(report.scaling->rows, "row", "rows") << '\n';
  }
  if (report.facts) {
    const ModelFacts& facts = *report.facts;
    report_line(text, "kernel") << facts.kernel.formula
                                << (facts.standardised ? ", columns standardised" : "");
    if (report.bias) {
      text << (*report.bias > 0 ? ", bias " + number_text(*report.bias) + " k(x, x), chosen"
                                : ", no bias, chosen");
    }
    text << '\n';
    report_line(text, "soft boundary");
    if (facts.boundary && facts.boundary->label_noise > 0) {
      text << "label noise " << facts.boundary->label_noise << ", chosen";
    } else if (facts.boundary) {
      text << facts.boundary->relative_lambda << " k(x, x), chosen";
    } else if (report.chosen_lambda) {
      text << *report.chosen_lambda << " k(x, x), chosen of those given";
    } else if (options.soft_boundary.size() == 1 && options.soft_boundary[0] == 0) {
      text << "hard";
    } else if (!options.soft_boundary.empty()) {
      text << options.soft_boundary[0] << " k(x, x)";
    } else {
      text << "chosen";
    }
    text << '\n';
    report_line(text, "machine") << options.sampler;
    if (options.sampler != "ep") text << ", " << count_text(facts.report.draws, "draw", "draws");
    text << (facts.one_against_one ? ", one class against one, " : ", ")
         << (options.weights_only ? std::string("weights alone")
                                  : count_text(facts.support, "support row", "support rows"))
         << '\n';
  }
  if (report.training_error) {
    report_line(text, "errors") << "on the rows that trained "
                                << percent_text(*report.training_error) << '\n';
  }
  if (report.out_of_fold) {
    const bool part = report.out_of_fold->rows < report.rows;
    // On so many more rows a machine learns more than choosing has flattered these.
    const bool small = 3 * report.out_of_fold->rows <= 2 * report.rows;
    report_line(text, "out of fold")
        << "error " << percent_text(report.out_of_fold->error) << ", log loss "
        << number_text(report.out_of_fold->loss) << ", judged on "
        << (part ? std::to_string(report.out_of_fold->rows) + " of " + std::to_string(report.rows)
                 : "all")
        << " rows"
        << (part && has_rare_classes_more_often(report) ? ", rare classes more often" : "")
        << (part && report.out_of_fold->machine_rows > 0
                ? ", by machines of " + number_text(std::round(report.out_of_fold->machine_rows), 9)
                : "")
        << (small                           ? ": the model of all errs less as a rule"
            : report.out_of_fold->chosen    ? ", by which it was chosen: optimistic"
            : report.scaling && report.bias ? ", by which columns and bias were chosen: optimistic"
            : report.scaling                ? ", by which columns were chosen: optimistic"
            : report.bias                   ? ", by which the bias was chosen: optimistic"
                                            : "")
        << '\n';
  }
  if (report.guarantee) {
    report_line(text, "guarantee")
        << (report.guarantee->found
                ? percent_text(report.guarantee->coverage) + " of " +
                      (options.risk_class.empty()
                           ? ""
                           : "what is called " + options.risk_class + " of ") +
                      count_text(report.held_out, "row", "rows") + " held out accepted, " +
                      std::to_string(report.guarantee->errors) + " wrong; at most " +
                      number_text(100 * report.guarantee->risk, 6) +
                      " % of what is accepted, unless a " +
                      number_text(100 * report.guarantee->delta, 6) + " % chance came true"
                : "none")
        << '\n';
  }
  if (report.model_bytes > 0) {
    report_line(text, "model") << options.model << ", " << report.model_bytes << " bytes, after "
                               << number_text(report.train_seconds, 3) << " s\n";
  }
  out << text.str() << std::flush;
}

/// The ten best of what was tried, and the choice where it is none of them.
void print_choice(std::ostream& out, const FitTask& task, const FitOutcome& outcome) {
  // Of expectation propagation the loss is minus the log evidence a row.
  const bool by_evidence = task.sampler == "ep";
  const auto score = [&](const bpm::ChoiceCandidate& one) {
    if (!one.consistent) return std::numeric_limits<double>::infinity();
    return task.by_error ? one.error : one.loss;
  };
  std::vector<std::size_t> order(outcome.candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return score(outcome.candidates[i]); });
  auto rest = order.begin() + std::min<std::ptrdiff_t>(std::ssize(order), 10);
  if (std::find(rest, order.end(), outcome.best) != order.end()) *rest++ = outcome.best;
  std::ostringstream text;
  text << (by_evidence ? "  -evidence" : "   log loss") << "   error   soft boundary"
       << (task.biases.empty() ? "" : "   bias") << "   kernel\n";
  for (const std::size_t i : std::span(order.begin(), rest)) {
    const bpm::ChoiceCandidate& one = outcome.candidates[i];
    text << (i == outcome.best ? " * " : "   ") << std::fixed;
    if (one.consistent) {
      text << std::setw(8) << number_text(one.loss) << std::setw(8);
      if (by_evidence) {
        text << "-";
      } else {
        text << std::setprecision(2) << 100 * one.error << std::defaultfloat;
      }
    } else {
      text << " not consistent";
    }
    text << std::setw(16)
         << number_text(one.label_noise > 0 ? one.label_noise : one.relative_lambda);
    if (!task.biases.empty()) text << std::setw(7) << number_text(one.bias);
    text << "   " << words_of(task.kernels[one.kernel]).formula
         << (one.one_against_one ? ", one class against one" : "") << '\n';
  }
  if (rest != order.end()) {
    text << "   the best of " << outcome.candidates.size() << ", all of which --json FILE has\n";
  }
  const bpm::ChoiceCandidate& best = outcome.candidates[outcome.best];
  const auto score_of_kind = [&](const bpm::ChoiceCandidate& one) {
    return one.one_against_one == best.one_against_one ? score(one)
                                                       : std::numeric_limits<double>::infinity();
  };
  const bpm::ChoiceCandidate& least =
      *std::ranges::min_element(outcome.candidates, {}, score_of_kind);
  if (score(best) > score(least)) {
    const bool tie = score(best) <= score(least) + 0.1 * least.standard_error;
    text << " * "
         << (tie && outcome.moved_by == 0
                 ? "no worse than the smallest, by a tenth of its standard error, and softer or "
                   "wider"
                 : "better than its neighbours by two standard errors when they were judged "
                   "once more, on " +
                       count_text(outcome.moved_by, "row", "rows") + " of a larger part")
         << '\n';
  }
  if (score(*std::ranges::min_element(outcome.candidates, {}, score)) < score(least)) {
    text << " * one class against one would have to be better by a standard error\n";
  }
  out << text.str() << std::flush;
}

/// The loss of what was tried against the soft boundary, a line per kernel and bias, and a circle
/// around what was taken. A hard boundary has no place on the logarithmic axis; label noise has its
/// own. `formula`: of the one kernel of all; empty: of each of the task's kernels.
[[nodiscard]] Plot choice_plot(const FitTask& task, const std::string& formula,
                               const std::string& data,
                               const std::vector<bpm::ChoiceCandidate>& candidates,
                               const bpm::ChoiceCandidate* taken) {
  Plot plot;
  plot.title = data;
  bool noise = false;
  for (const bpm::ChoiceCandidate& one : candidates) noise = noise || one.label_noise > 0;
  plot.x_label = noise ? "label noise" : "soft boundary, lambda / k(x, x)";
  plot.y_label = task.sampler == "ep" ? "minus the log evidence a row" : "log loss out of fold";
  plot.log_x = true;
  const auto add = [&](PlotSeries& series, const bpm::ChoiceCandidate& one) {
    const double x = noise ? one.label_noise : one.relative_lambda;
    if (!one.consistent || x == 0) return;
    series.x.push_back(x);
    series.y.push_back(one.loss);
  };
  std::map<std::tuple<std::size_t, double, bool>, PlotSeries> lines;
  for (const bpm::ChoiceCandidate& one : candidates) {
    PlotSeries& series = lines[{one.kernel, one.bias, one.one_against_one}];
    if (series.title.empty()) {
      series.title = formula.empty() ? words_of(task.kernels[one.kernel]).formula : formula;
      if (!task.biases.empty() && task.choosing) series.title += ", bias " + number_text(one.bias);
      if (one.one_against_one) series.title += ", one class against one";
    }
    add(series, one);
  }
  for (auto& [what, series] : lines) {
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  }
  PlotSeries circle;
  circle.title = "taken";
  circle.reference = true;
  circle.marks = PlotMarks::points;
  if (taken != nullptr) add(circle, *taken);
  if (!circle.x.empty()) plot.series.push_back(std::move(circle));
  return plot;
}

void draw_choice(const FitTask& task, const TrainReport& report, const FitOutcome& outcome,
                 const std::string& data, const std::filesystem::path& path) {
  auto candidates = outcome.candidates;
  const bpm::ChoiceCandidate* taken = nullptr;
  std::string formula;
  if (!candidates.empty()) {
    taken = &candidates[outcome.best];
  } else if (report.facts && report.facts->boundary) {
    candidates = report.facts->boundary->candidates;
    formula = report.facts->kernel.formula;
    taken = taken_candidate(*report.facts->boundary);
  }
  const Plot plot = choice_plot(task, formula, data, candidates, taken);
  if (plot.series.empty()) {
    throw OutputError("cannot plot into '" + path.string() +
                      "': no soft boundary but the hard one was consistent");
  }
  write_plot(plot, path);
}

/// The threshold above which the risk is guaranteed, by rows that trained nothing.
[[nodiscard]] bpm::CertifiedRisk certify(const TrainOptions& options, const Model& model,
                                         const Data& held_out) {
  const ModelFacts facts = facts_of(model);
  // A share has the labels of the rows that train; one that only it has is never said.
  const std::vector<int> labels =
      options.held_out_share > 0 ? held_out.labels : labels_for(facts, held_out);
  const Eigen::MatrixXd values = decision_values(model, held_out.inputs);
  const std::vector<int> said = labels_of(model, values);
  std::vector<double> scores = bpm::gap_scores(shifted_values(model, values));
  std::vector<bool> correct = bpm::correct_predictions(labels, said);
  if (!options.risk_class.empty()) {
    // The rows that are called the class are independent draws of such rows.
    const auto place = std::ranges::find(facts.class_names, options.risk_class);
    const int label = facts.classes[static_cast<std::size_t>(place - facts.class_names.begin())];
    std::size_t called = 0;
    for (std::size_t i = 0; i < said.size(); ++i) {
      if (said[i] != label) continue;
      scores[called] = scores[i];
      correct[called++] = correct[i];
    }
    // Where no row is called the class, one that is wrong stands for them: it gives no threshold.
    scores.resize(std::max<std::size_t>(called, 1));
    correct.resize(scores.size());
    if (called == 0) correct[0] = false;
  }
  return bpm::certify_risk(scores, correct, *options.risk, options.delta);
}

/// Whether who says this class of all rows has the guarantee too.
[[nodiscard]] bool keeps_risk_alone(const TrainOptions& options, const Data& held_out,
                                    const std::string& name) {
  std::uint64_t others = 0;
  for (const int label : held_out.labels) others += name_of(held_out, label) != name ? 1 : 0;
  return bpm::binomial_upper_limit(others, held_out.labels.size(), options.delta) <= *options.risk;
}

}  // namespace

void run_train(const TrainOptions& given) {
  TrainOptions options = given;
  const JsonFile json(options.common.json);
  TrainingData data = read_training(options);
  WallTimer timer;
  TrainReport report;
  report.rows = static_cast<std::size_t>(data.train.rows());
  report.features = static_cast<std::size_t>(data.train.columns());
  for (const int label : data.train.labels) ++report.class_counts[label];
  check_rows(options, data.train);
  if (const std::string& name = options.risk_class;
      !name.empty() && std::ranges::none_of(report.class_counts, [&](const auto& one) {
        return name_of(data.train, one.first) == name;
      })) {
    throw bpm::DataError(data.train.name + ": has no class '" + name + "' for --risk");
  }
  Finish finish{.names = data.train.class_names,
                .features = data.train.feature_names,
                .encoding = data.train.encoding,
                .positions = data.train.positions};
  report.draws_wanted = draws_of(options, data.train);

  const InterruptGuard guard;
  FitOutcome outcome;
  FitTask task;
  {
    ProgressBar bar(progress_style(options.common.quiet));
    const Watch watch = [&](const bpm::Progress& now) {
      bar(now);
      return !guard.interrupted();
    };
    try {
      report.scaling = judge_scaling(options, data.train,
                                     [&](const bpm::Progress&) { return !guard.interrupted(); });
      if (report.scaling)
        options.standardise = report.scaling->standardised < report.scaling->plain;
      prepare(options, data.train, finish.scaling);
      check_directions(options, data.train);
      task = make_task(options, data.train);
      check_weights(options, task);
      outcome = fit(task, data.train, watch);
    } catch (const std::invalid_argument& error) {
      throw std::runtime_error(in_words_of(data.train.name, error.what()) +
                               " (here: scale the columns, or --ignore them)");
    } catch (const bpm::Stopped&) {
      throw Interrupted(
          "stopped before there was a whole machine: no model is written" +
          std::string(options.checkpoint.empty()
                          ? ""
                          : "; --resume begins with what '" + options.checkpoint + "' holds"));
    }
  }
  report.out_of_fold = outcome.out_of_fold;
  report.bias = outcome.bias;
  if (options.soft_boundary.size() > 1) {
    report.chosen_lambda = outcome.candidates[outcome.best].relative_lambda;
  }
  const bool quiet = options.common.quiet || options.model == "-";
  if (outcome.model) {
    Model model = *outcome.model;
    const ModelFacts fitted = facts_of(model);
    // What --folds found of train is of machines of more rows and draws than what a fit finds.
    const bool by_folds = options.folds > 0 && !options.choosing;
    if (const auto& folds = outcome.out_of_fold;
        folds && folds->slope > 0 && (by_folds || !fitted.calibrated)) {
      const double rows = by_folds ? 1 - 1 / static_cast<double>(options.folds) : 1;
      const double growth = fitted.boundary ? fitted.boundary->growth : 0;
      finish.calibration =
          Calibration{folds->slope * std::pow(rows, -growth), folds->offsets, folds->rows};
    }
    // Asked before the scaling is put in: these rows are scaled. A multiple of training's own work.
    model = finished(model, {.calibration = finish.calibration});
    if (!quiet || !options.common.json.empty()) {
      report.training_error = bpm::error_rate(
          data.train.labels, labels_of(model, decision_values(model, data.train.inputs)));
    }
    model = finished(model, finish);
    if (options.risk) {
      report.guarantee = certify(options, model, data.held_out);
      report.held_out = static_cast<std::size_t>(data.held_out.rows());
      const std::string score =
          options.risk_class.empty() ? "gap" : gap_of_class(options.risk_class);
      model = finished(model, {.rejection = bpm::Rejection{score, report.guarantee->rejector()}});
      const auto largest = std::ranges::max_element(report.class_counts, {},
                                                    [](const auto& one) { return one.second; });
      const std::string name =
          options.risk_class.empty() ? name_of(data.train, largest->first) : options.risk_class;
      if (keeps_risk_alone(options, data.held_out, name)) {
        report.warnings.push_back("always saying " + name + " keeps the risk at " +
                                  number_text(100 * *options.risk, 6) +
                                  " % as well, of all rows: a smaller --risk says more");
      }
      if (!report.guarantee->found) {
        report.warnings.push_back(
            "no threshold keeps the risk at " + number_text(100 * *options.risk, 6) +
            " %: " + report.guarantee->message() + "; every row " +
            (options.risk_class.empty() ? "" : "called " + options.risk_class + " ") +
            "will be rejected, give more rows to --held-out or a larger "
            "--risk");
      }
    }
    if (options.sampler == "ep" && (options.balanced || !options.class_weights.empty())) {
      report.warnings.emplace_back(
          "--sampler ep: with class weights the probabilities are of the weighted classes, not in "
          "their shares of the rows");
    }
    if (options.weights_only) model = weights_alone(model);
    report.facts = facts_of(model);
    if (!report.out_of_fold && report.facts->boundary) {
      if (const auto* taken = taken_candidate(*report.facts->boundary);
          taken != nullptr && taken->slope > 0) {
        report.out_of_fold = OutOfFoldResult{.error = taken->error,
                                             .loss = taken->loss,
                                             .rows = report.facts->boundary->points,
                                             .chosen = true,
                                             .machine_rows = report.facts->boundary->fold_rows};
      }
    }
    if (const std::size_t copies = report.out_of_fold ? count_copies(data.train) : 0;
        copies > 0 && copies * 100 >= report.rows) {
      report.warnings.push_back(std::to_string(copies) + " of the " +
                                count_text(report.rows, "row repeats", "rows repeat") +
                                " the numbers of others: if they are copies, what is out of fold "
                                "is too good");
    }
    for (std::string& text : warnings_of(*report.facts, report.scaling.has_value(),
                                         options.balanced || !options.class_weights.empty()))
      report.warnings.push_back(text);
    report.model_bytes = save_model(model, options.model);
  }
  report.train_seconds = timer.seconds();
  if (!quiet) {
    if (options.choosing) print_choice(std::cout, task, outcome);
    print_report(std::cout, report, options, data.train);
  }
  for (const std::string& warning : report.warnings) {
    std::cerr << "bpm: warning: " << one_line(warning) << '\n' << std::flush;
  }
  json.write(train_json(report, options, task, outcome));
  if (!options.common.plot.empty()) {
    draw_choice(task, report, outcome, data.train.name, options.common.plot);
  }
  if (report.facts && report.facts->report.stopped &&
      report.facts->report.draws < report.draws_wanted) {
    throw Interrupted("stopped after " + std::to_string(report.facts->report.draws) + " of " +
                      std::to_string(report.draws_wanted) + " draws; the model is theirs");
  }
}

}  // namespace bpm_examples
