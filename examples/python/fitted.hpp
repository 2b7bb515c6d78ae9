// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/one_vs_one.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/storage/model_file.hpp"
#include "common/choose_setting.hpp"
#include "machines.hpp"

/// \file
/// The class behind `Model`, and fits by samplers: what machines.cpp, for perceptrons, and
/// chains.cpp, for all else, compile for each kernel and kind of inputs. One unit of both took 3
/// GB.

namespace bpm_python {

template <class C>
using kernel_of = std::remove_cvref_t<decltype(std::declval<typename C::Parts>().kernel)>;
template <class C>
using inputs_of = std::remove_cvref_t<decltype(std::declval<typename C::Parts>().inputs)>;

template <class C>
inline constexpr bool is_precomputed = std::same_as<kernel_of<C>, bpm::PrecomputedKernel>;
template <class C>
inline constexpr bool is_posterior = requires(const C& c) { c.posterior(); };

/// A warning, its way out in words of Python where the library's are of C++.
[[nodiscard]] inline std::string text_of(const bpm::FitWarning& warning) {
  using Kind = bpm::FitWarning::Kind;
  const std::string text(warning.what());
  const auto with = [&](const char* way_out) {
    return text.substr(0, text.find(": ")) + ": " + way_out;
  };
  if (warning.kind == Kind::class_never_predicted) return with("give it a larger class_weight");
  if (warning.kind == Kind::width_far_from_distances) return with("leave width and gamma out");
  if (warning.kind == Kind::columns_differ_in_scale) {
    return with("a StandardScaler brings them to one scale");
  }
  if (warning.kind == Kind::far_from_origin) {
    return with(
        "take their mean off, by a StandardScaler for one, or give them in double precision");
  }
  if (warning.kind == Kind::chains_disagree) return with("make more draws");
  return text;
}

// --- Questions -----------------------------------------------------------------------------------

template <class C>
class Fitted : public Model {
 public:
  explicit Fitted(C classifier, std::optional<ChosenSetting> chosen = {})
      : classifier_(std::move(classifier)), chosen_(std::move(chosen)) {}

  [[nodiscard]] static std::string kind_name() {
    using Kernel = kernel_of<C>;
    using Inputs = inputs_of<C>;
    using Scalar = typename Inputs::Scalar;
    std::string name = is_posterior<C> ? "posterior, " : "";
    name += is_precomputed<C>                      ? "precomputed, "
            : std::same_as<Kernel, bpm::Laplacian> ? "laplacian, "
                                                   : "";
    return name + (bpm::SparseInputs<Inputs>            ? "sparse"
                   : std::same_as<Scalar, std::uint8_t> ? "uint8"
                   : std::same_as<Scalar, float>        ? "float32"
                                                        : "float64");
  }
  [[nodiscard]] std::string kind() const override { return kind_name(); }

  [[nodiscard]] Eigen::MatrixXd decision_values(const Rows& rows) const override {
    return ask(rows, [&](const auto& queries) -> Eigen::MatrixXd {
      if constexpr (is_posterior<C> && !is_precomputed<C>) {
        if (classifier_.columns() > 1) {
          return classifier_.predict_probability(queries).array().max(1e-300).log().matrix();
        }
        const auto latent = classifier_.latent(queries);
        const double label_noise = classifier_.posterior().noise_deviation;
        const auto variance = latent.variance.array() + latent.noise.array();
        return (latent.mean.array() / (variance + label_noise * label_noise).max(1e-300).sqrt())
            .matrix();
      }
      return classifier_.shifted(classifier_.decision_values(queries));
    });
  }

  [[nodiscard]] Eigen::MatrixXd probabilities(
      const Rows& rows, const std::optional<Eigen::VectorXd>& diagonal) const override {
    const Eigen::MatrixXd found = ask(rows, [&](const auto& queries) -> Eigen::MatrixXd {
      if constexpr (is_posterior<C> && is_precomputed<C>) {
        if (!diagonal) {
          throw std::invalid_argument(
              "predict_proba: diagonal is None, must hold k(x, x) of every row: with a "
              "precomputed kernel the variance is not known without it");
        }
        return classifier_.predict_probability(bpm::PrecomputedRows<double>{queries, *diagonal});
      } else {
        return classifier_.predict_probability(queries);
      }
    });
    if (found.cols() > 1) return found;
    Eigen::MatrixXd both(found.rows(), 2);
    both.col(0) = 1 - found.col(0).array();
    both.col(1) = found.col(0);
    return both;
  }

  [[nodiscard]] ModelFacts facts() const override {
    const bpm::Notes& notes = classifier_.notes;
    ModelFacts facts{.support = classifier_.support()};
    facts.draws = notes.report.draws;
    facts.stopped = notes.report.stopped;
    if (notes.boundary) {
      facts.soft_boundary = notes.boundary->relative_lambda;
      facts.label_noise = notes.boundary->label_noise;
    }
    if (notes.report.chains) facts.standard_error = notes.report.chains->standard_error;
    if constexpr (is_posterior<C>) {
      for (std::size_t c = 0; c < static_cast<std::size_t>(classifier_.columns()); ++c) {
        facts.log_evidence.push_back(classifier_.log_evidence(c));
      }
    }
    for (const bpm::FitWarning& warning : notes.warnings)
      facts.warnings.push_back(text_of(warning));
    facts.training_seconds = notes.training_seconds;
    facts.probabilities = is_posterior<C> || classifier_.parts().slope > 0;
    facts.chosen = chosen_;
    return facts;
  }

  [[nodiscard]] std::vector<std::byte> bytes() const override {
    return bpm::model_bytes(classifier_);
  }

  [[nodiscard]] const C& classifier() const { return classifier_; }

 private:
  /// use(queries) of rows of the training set's kind; Python has converted all others.
  template <class Use>
  [[nodiscard]] Eigen::MatrixXd ask(const Rows& rows, const Use& use) const {
    using Inputs = inputs_of<C>;
    const auto* const queries = std::get_if<Eigen::Map<const Inputs>>(&rows);
    if (queries == nullptr) {
      throw std::invalid_argument("X is of another kind than the training set's, " + kind());
    }
    if constexpr (is_precomputed<C>) {
      const Inputs whole = *queries;  // The library takes a matrix, no view of one.
      return use(whole);
    } else {
      return use(*queries);
    }
  }

  C classifier_;
  std::optional<ChosenSetting> chosen_;
};

// --- Fits ----------------------------------------------------------------------------------------

/// A fit that can go on.
template <class Training>
class Trained final : public Fitted<decltype(std::declval<const Training&>().classifier())> {
  using Base = Fitted<decltype(std::declval<const Training&>().classifier())>;

 public:
  Trained(Training training, std::shared_ptr<const void> owner,
          std::optional<ChosenSetting> chosen = {})
      : Base(training.classifier(), std::move(chosen)),
        training_(std::move(training)),
        owner_(std::move(owner)) {}

  [[nodiscard]] std::shared_ptr<const Model> with_draws_added(std::uint64_t draws,
                                                              const Watch& watch,
                                                              bpm::StopToken stop) const override {
    Training more = training_;
    more.add_draws(draws, watch, std::move(stop));
    return std::make_shared<const Trained>(std::move(more), owner_);
  }

 private:
  Training training_;
  std::shared_ptr<const void> owner_;
};

/// Rows and labels that a training refers to.
template <class I>
struct TrainingSet {
  I inputs;
  std::vector<int> labels;
  std::shared_ptr<const void> owner;
};

[[nodiscard]] inline bpm::FitSettings settings_of(const FitRequest& request) {
  bpm::FitSettings settings{.seed = request.seed,
                            .threads = request.threads,
                            .memory = request.memory,
                            .bias = request.bias};
  if (request.soft_boundary) {
    settings.soft_boundary = bpm::SoftBoundary::relative(*request.soft_boundary);
  }
  if (!request.class_weights.empty()) {
    settings.soft_boundary = settings.soft_boundary.with_class_weights(request.class_weights);
  }
  return settings;
}

[[nodiscard]] inline bpm::RuntimeKernel kernel_of_products(const FitRequest& request) {
  const auto kernel = [&]() -> bpm::RuntimeKernel {
    if (request.kernel == "linear") return bpm::Linear{};
    if (request.kernel == "polynomial") {
      return bpm::Polynomial(request.degree, request.gamma.value_or(1), request.offset);
    }
    if (request.kernel == "arc_cosine") return bpm::ArcCosine(request.depth);
    if (request.kernel != "gaussian") {
      throw std::invalid_argument(
          "fit: kernel is '" + request.kernel +
          "', must be one of inner products for inputs that are not float64");
    }
    if (request.gamma) return bpm::Gaussian::from_gamma(*request.gamma);
    return bpm::Gaussian::from_width(request.width.value());
  }();
  return request.unit_inputs ? bpm::RuntimeKernel(bpm::on_unit_inputs(kernel)) : kernel;
}

/// The kernels to choose from, and the width or degree of each.
[[nodiscard]] inline std::pair<bpm_examples::SettingSearch, std::vector<double>> search_of(
    const FitRequest& request) {
  bpm_examples::SettingSearch search = request.search;
  std::vector<double> parameters = request.widths;
  if (request.kernel == "polynomial") {
    parameters.assign(request.degrees.begin(), request.degrees.end());
  } else if (request.median) {
    parameters = bpm_examples::widths_to_try(search);
    for (double& width : parameters) width *= *request.median;
  }
  FitRequest one = request;
  for (const double parameter : parameters) {
    if (request.kernel == "polynomial") one.degree = static_cast<int>(parameter);
    one.width = parameter;
    search.kernels.push_back(kernel_of_products(one));
  }
  if (search.kernels.empty()) search.kernels.push_back(kernel_of_products(request));
  return {std::move(search), std::move(parameters)};
}

template <class Kernel, class Sampler, class I>
[[nodiscard]] std::shared_ptr<const Model> train(const Kernel& kernel, Sampler sampler,
                                                 const FitRequest& request, const I& inputs,
                                                 std::shared_ptr<const void> owner,
                                                 std::vector<int> labels, const Watch& watch,
                                                 bpm::StopToken stop) {
  if (request.draws) sampler.draws = *request.draws;
  bpm::OneVsRest machine(bpm::BayesPointMachine(
      kernel, sampler, bpm_examples::usual_boundary(labels.size()), settings_of(request)));
  std::optional<ChosenSetting> chosen;
  if constexpr (std::same_as<Kernel, bpm::RuntimeKernel>) {
    if (auto [search, parameters] = search_of(request); search.has_candidates()) {
      if (auto choice =
              bpm_examples::choose_setting(machine, search, inputs, labels, watch, stop)) {
        chosen = {std::move(choice->candidates), choice->best,
                  request.kernel == "polynomial" ? "degree" : "width", std::move(parameters)};
        machine = std::move(choice->machine);
        if (chosen->candidates[chosen->best].one_against_one) {
          auto pairs = bpm::OneVsOne(machine.machine()).fit(inputs, labels, watch, std::move(stop));
          return std::make_shared<const Fitted<decltype(pairs)>>(std::move(pairs),
                                                                 std::move(chosen));
        }
      }
    }
  }
  const auto set = std::make_shared<const TrainingSet<I>>(
      TrainingSet<I>{inputs, std::move(labels), std::move(owner)});
  auto training = machine.train(set->inputs, set->labels, watch, std::move(stop));
  return std::make_shared<const Trained<decltype(training)>>(std::move(training), set,
                                                             std::move(chosen));
}

// --- Files ---------------------------------------------------------------------------------------

template <class C>
[[nodiscard]] C with_threads(const C& classifier, unsigned threads) {
  auto parts = classifier.parts();
  parts.threads = threads;
  bpm::Classifier<kernel_of<C>, inputs_of<C>> base(std::move(parts));
  if constexpr (is_posterior<C>) {
    std::vector<std::remove_cvref_t<decltype(classifier.posterior(0))>> posteriors;
    for (std::size_t c = 0; c < static_cast<std::size_t>(classifier.columns()); ++c) {
      posteriors.push_back(classifier.posterior(c));
    }
    return C(std::move(base), std::move(posteriors));
  } else {
    return base;
  }
}

/// Loads a model of one of these kinds; null for others.
template <class... Classifiers>
[[nodiscard]] std::shared_ptr<const Model> load_one_of(const std::string& kind,
                                                       std::span<const std::byte> bytes,
                                                       unsigned threads) {
  std::shared_ptr<const Model> model;
  const auto take = [&]<class C>(std::type_identity<C>) {
    if (kind != Fitted<C>::kind_name()) return false;
    model = std::make_shared<const Fitted<C>>(with_threads(bpm::load<C>(bytes), threads));
    return true;
  };
  static_cast<void>((take(std::type_identity<Classifiers>{}) || ...));
  return model;
}

// --- Of matrices of doubles ----------------------------------------------------------------------

/// The inputs of a fit with a kernel: a user's matrix is copied.
template <class Kernel>
using DoublesOf =
    std::conditional_t<std::same_as<Kernel, bpm::PrecomputedKernel>, bpm::RowMatrix<double>,
                       Eigen::Map<const bpm::RowMatrix<double>>>;

/// Fits by a billiard, a Gibbs sampler or expectation propagation; null for other samplers.
template <class Kernel>
[[nodiscard]] std::shared_ptr<const Model> fit_doubles(const Kernel& kernel,
                                                       const FitRequest& request,
                                                       const DoublesOf<Kernel>& inputs,
                                                       std::shared_ptr<const void> owner,
                                                       std::vector<int> labels, const Watch& watch,
                                                       bpm::StopToken stop);

/// Loads a posterior; null for other kinds.
[[nodiscard]] std::shared_ptr<const Model> load_posterior(const std::string& kind,
                                                          std::span<const std::byte> bytes,
                                                          unsigned threads);

}  // namespace bpm_python
