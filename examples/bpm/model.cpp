// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <span>
#include <sstream>
#include <system_error>
#include <type_traits>
#include <utility>

#include "bpm/core/errors.hpp"
#include "bpm/storage/gaussian_process_file.hpp"
#include "bpm/storage/model_file.hpp"
#include "posterior.hpp"

namespace bpm_examples {

namespace {

static_assert(std::same_as<decltype(Model::classifier), bpm::AnyClassifier>);

using Posterior = decltype(PosteriorModel::classifier);

[[nodiscard]] std::string read_bytes(const std::string& path, std::string& name) {
  std::ostringstream bytes;
  if (path == "-") {
    name = "standard input";
    bytes << std::cin.rdbuf();
  } else {
    name = path;
    if (std::filesystem::is_directory(path)) {
      throw bpm::DataError(path + ": is a directory, expected a model");
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) throw bpm::DataError(path + ": cannot be opened for reading");
    bytes << file.rdbuf();
  }
  return std::move(bytes).str();
}

template <class Classifier>
using inputs_of = std::remove_cvref_t<decltype(std::declval<Classifier>().parts().inputs)>;

template <class C>
[[nodiscard]] C finished_classifier(C classifier, const Finish& finish) {
  if (finish.scaling) classifier = classifier.with_standardisation(*finish.scaling);
  bpm::Notes& notes = classifier.notes;
  if (!finish.names.empty()) notes.name_classes(classifier.classes(), finish.names);
  if (!finish.features.empty()) notes.feature_names = finish.features;
  if (finish.encoding) notes.encoding = *finish.encoding;
  if (finish.rejection) notes.rejection = *finish.rejection;
  if (!finish.positions.usual()) {
    notes.label_column = finish.positions.label;
    notes.ignored_columns = finish.positions.ignored;
  }
  return classifier;
}

template <class Support>
[[nodiscard]] std::string kind_of() {
  using Scalar = typename Support::Scalar;
  if constexpr (std::same_as<Support, bpm::SparseRowMatrix<Scalar>>) return "sparse";
  return std::same_as<Scalar, std::uint8_t> ? "byte"
         : std::same_as<Scalar, float>      ? "float"
                                            : "double";
}

}  // namespace

KernelWords words_of(const bpm::RuntimeKernel& kernel) {
  std::ostringstream text;
  std::string name = "composed";
  kernel.visit([&]<class K>(const K& one) {
    if constexpr (std::same_as<K, bpm::Linear>) {
      name = "linear";
      text << "<x, x'>";
    } else if constexpr (std::same_as<K, bpm::Polynomial>) {
      name = "polynomial";
      text << '(';
      if (one.scale() != 1) text << one.scale() << ' ';
      text << "<x, x'> + " << one.offset() << ")^" << one.degree();
    } else if constexpr (std::same_as<K, bpm::Gaussian>) {
      name = "gaussian";
      text << "exp(-|x - x'|^2 / " << 1 / std::sqrt(one.gamma()) << "^2)";
    } else if constexpr (std::same_as<K, bpm::ArcCosine>) {
      name = "arc-cosine";
      text << "arc-cosine of depth " << one.depth();
    } else if constexpr (std::same_as<K, decltype(bpm::on_unit_inputs(kernel))>) {
      const KernelWords inner = words_of(one.inner);
      name = inner.name;
      text << inner.formula << " of rows scaled to norm 1";
    } else {
      text << "composed of others";
    }
  });
  return {name, text.str()};
}

bool is_model_file(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, 9> head{};
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8U | head[i];
  if (file.gcount() != 9 || head[8] != '{' || length < 2 ||
      length >= std::filesystem::file_size(path, unknown)) {
    return false;
  }
  // Others keep tensors in the same layout: ours name their kind.
  std::string header(static_cast<std::size_t>(length), '{');
  file.read(header.data() + 1, static_cast<std::streamsize>(length) - 1);
  return header.find(R"("kind":"bpm )") != std::string::npos;
}

Model load_model(const std::string& path) {
  std::string name;
  const std::string bytes = read_bytes(path, name);
  const auto view = std::as_bytes(std::span(bytes));
  if (!bpm::is_posterior_model(view, name)) return {bpm::load_any(view, name), nullptr};
  const auto found =
      std::make_shared<const PosteriorModel>(PosteriorModel{bpm::load<Posterior>(view, name)});
  return {bpm::Classifier(found->classifier), found};
}

std::size_t save_model(const Model& model, const std::string& path) {
  const auto save = [&](const auto& saved) {
    if (path == "-") {
      bpm::save(saved, std::cout);
      return bpm::model_bytes(saved).size();
    }
    bpm::save(saved, std::filesystem::path(path));
    return static_cast<std::size_t>(std::filesystem::file_size(path));
  };
  if (model.posterior) return save(model.posterior->classifier);
  return std::visit(save, model.classifier);
}

Model finished(const Model& model, const Finish& finish) {
  if (model.posterior) {
    Posterior classifier = finished_classifier(model.posterior->classifier, finish);
    if (finish.threads) {
      auto parts = classifier.parts();
      parts.threads = static_cast<unsigned>(*finish.threads);
      std::vector<bpm::EpPosterior> posteriors;
      for (std::size_t c = 0; c < static_cast<std::size_t>(classifier.columns()); ++c) {
        posteriors.push_back(classifier.posterior(c));
      }
      classifier = Posterior(bpm::Classifier<bpm::RuntimeKernel, bpm::RowMatrix<double>>(
                                 std::move(parts), classifier.notes),
                             std::move(posteriors));
    }
    const auto changed =
        std::make_shared<const PosteriorModel>(PosteriorModel{std::move(classifier)});
    return {bpm::Classifier(changed->classifier), changed};
  }
  return std::visit(
      [&]<class C>(const C& classifier) -> Model {
        C changed = finished_classifier(classifier, finish);
        if (finish.calibration || finish.threads) {
          typename C::Parts parts = changed.parts();
          if (finish.threads) parts.threads = static_cast<unsigned>(*finish.threads);
          if (finish.calibration) {
            parts.slope = finish.calibration->slope;
            parts.offsets = finish.calibration->offsets;
            parts.probability_rows = finish.calibration->rows;
          }
          changed = C(std::move(parts), changed.notes);
        }
        return {changed, nullptr};
      },
      model.classifier);
}

Model weights_alone(const Model& model) {
  return std::visit(
      []<class C>(const C& classifier) -> Model {
        // In double: weights are no bytes, and sums of floats lose digits.
        using Weights = std::conditional_t<bpm::SparseInputs<inputs_of<C>>,
                                           bpm::SparseRowMatrix<double>, bpm::RowMatrix<double>>;
        const auto& parts = classifier.parts();
        const Eigen::Index columns = parts.coefficients.cols();
        const Eigen::Index rows = columns + (parts.bias != 0 ? 1 : 0);
        Weights weights(rows, parts.inputs.cols());
        weights.setZero();
        for (Eigen::Index c = 0; c < columns; ++c) {
          Eigen::RowVectorXd w = Eigen::RowVectorXd::Zero(parts.inputs.cols());
          for (Eigen::Index j = 0; j < parts.coefficients.rows(); ++j) {
            w += parts.coefficients(j, c) * parts.inputs.row(j).template cast<double>();
          }
          if constexpr (bpm::SparseInputs<Weights>) {
            weights.row(c) = w.sparseView();
          } else {
            weights.row(c) = w;
          }
        }
        bpm::RowMatrix<double> coefficients = bpm::RowMatrix<double>::Identity(rows, columns);
        if (rows > columns) {
          coefficients.row(columns) = parts.coefficients.colwise().sum().array() - 1;
        }
        std::vector<bpm::PointIndex> support(static_cast<std::size_t>(rows));
        std::iota(support.begin(), support.end(), bpm::PointIndex{0});
        bpm::Notes notes = classifier.notes;
        notes.training_points = 0;  // The support is no part of the training set.
        return {bpm::Classifier(
                    bpm::ClassifierParts<bpm::RuntimeKernel, Weights>{
                        .kernel = parts.kernel,
                        .inputs = std::move(weights),
                        .support = std::move(support),
                        .coefficients = std::move(coefficients),
                        .classes = parts.classes,
                        .divide_by_self = parts.divide_by_self,
                        .standardisation = parts.standardisation,
                        .one_against_one = parts.one_against_one,
                        .bias = parts.bias,
                        .threads = parts.threads,
                        .mean_norms = parts.mean_norms,
                        .training_margins = parts.training_margins,
                        .training_errors = parts.training_errors,
                        .slope = parts.slope,
                        .offsets = parts.offsets,
                        .offsets_move_labels = parts.offsets_move_labels,
                        .probability_rows = parts.probability_rows},
                    std::move(notes)),
                nullptr};
      },
      model.classifier);
}

ModelFacts facts_of(const Model& model) {
  return std::visit(
      [&]<class C>(const C& classifier) {
        const auto& parts = classifier.parts();
        const bpm::Notes& notes = classifier.notes;
        ModelFacts facts{.inputs = kind_of<inputs_of<C>>(),
                         .kernel = words_of(parts.kernel),
                         .features = parts.inputs.cols(),
                         .support = parts.support.size(),
                         .classes = parts.classes,
                         .class_names = notes.class_names,
                         .named = !notes.class_names.empty(),
                         .one_against_one = parts.one_against_one,
                         .feature_names = notes.feature_names,
                         .encoding = notes.encoding,
                         .positions = {notes.label_column, notes.ignored_columns},
                         .standardised = parts.standardisation.has_value(),
                         .calibrated = model.posterior != nullptr || parts.slope > 0,
                         .slope = parts.slope,
                         .offsets = parts.offsets,
                         .probability_rows = parts.probability_rows,
                         .bias = parts.bias,
                         .rejection = notes.rejection,
                         .seed = notes.seed,
                         .boundary = notes.boundary,
                         .warnings = notes.warnings,
                         .report = notes.report,
                         .training_seconds = notes.training_seconds};
        if (parts.standardisation) facts.constant_columns = parts.standardisation->constant.size();
        if (!facts.named) {
          for (const int label : facts.classes) facts.class_names.push_back(std::to_string(label));
        }
        return facts;
      },
      model.classifier);
}

std::vector<int> labels_of(const Model& model, const Eigen::MatrixXd& values) {
  return std::visit([&](const auto& classifier) { return classifier.labels_of(values); },
                    model.classifier);
}

Eigen::MatrixXd shifted_values(const Model& model, const Eigen::MatrixXd& values) {
  return std::visit([&](const auto& classifier) { return classifier.shifted(values); },
                    model.classifier);
}

std::size_t place_of_label(const std::vector<std::string>& names, const Data& data, int label) {
  const bool integers = data.class_names.empty();
  const std::string name =
      integers ? std::to_string(label) : data.class_names[static_cast<std::size_t>(label)];
  const auto exactly = std::ranges::find(names, name);
  if (exactly != names.end()) return static_cast<std::size_t>(exactly - names.begin());
  const auto number_of = [](const std::string& one) -> std::optional<double> {
    char* end = nullptr;
    const double value = std::strtod(one.c_str(), &end);
    return end == one.c_str() + one.size() ? std::optional(value) : std::nullopt;
  };
  const auto wanted = number_of(name);
  const auto is_number = [&](const std::string& one) { return wanted && number_of(one) == wanted; };
  if (std::ranges::count_if(names, is_number) != 1) return names.size();
  return static_cast<std::size_t>(std::ranges::find_if(names, is_number) - names.begin());
}

std::vector<int> labels_for(const ModelFacts& facts, const Data& data) {
  std::vector<int> labels;
  labels.reserve(data.labels.size());
  for (const int label : data.labels) {
    const std::size_t place = place_of_label(facts.class_names, data, label);
    if (place == facts.class_names.size()) {
      const std::string name = data.class_names.empty()
                                   ? std::to_string(label)
                                   : data.class_names[static_cast<std::size_t>(label)];
      std::string known;
      for (const std::string& one : facts.class_names) known += (known.empty() ? "" : ", ") + one;
      throw bpm::DataError(data.name + ": found the label '" + name + "', the model knows " +
                           known);
    }
    labels.push_back(facts.classes[place]);
  }
  return labels;
}

}  // namespace bpm_examples
