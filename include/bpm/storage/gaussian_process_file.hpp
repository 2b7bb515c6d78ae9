// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"
#include "bpm/gaussian_process/expectation_propagation/machine.hpp"
#include "bpm/gaussian_process/interpolation/jittered_cholesky.hpp"
#include "bpm/gaussian_process/interpolation/kernel_interpolator.hpp"
#include "bpm/kernels/inputs.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/storage/json_fields.hpp"
#include "bpm/storage/model_file.hpp"
#include "bpm/storage/stored_inputs.hpp"
#include "bpm/storage/tensor_file.hpp"

/// \file
/// With this header `save` and `load` take what expectation propagation and kernel interpolators
/// leave as well:
///
///     bpm::save(bpm::BayesPointMachine(kernel, bpm::ExpectationPropagation{}).fit(x, y), "p");
///     const auto posterior = bpm::load<bpm::PosteriorClassifier<Kernel, Inputs>>("p");
///     bpm::save(bpm::KernelInterpolator(kernel).train(x, y), "i");
///     const auto training = bpm::load<bpm::InterpolatorTraining<Kernel, Inputs>>("i");
///
/// (`KernelInterpolator::fit` gives a `Classifier`, which model_file.hpp saves.) A file is that of
/// the model's classifier, with arrays beside: 16 r^2 + 16 r + 48 m bytes a column of a
/// posterior, 8 n^2 + 8 n a column of an interpolator.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// The numbers of a posterior.
template <Either<EpPosterior> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("noise_deviation", s.noise_deviation);
  visit_unless(0, "relative_lambda", s.relative_lambda, visit);
  visit("log_evidence", s.log_evidence);
  visit("sweeps", s.sweeps);
  visit("change", s.change);
  visit("damping", s.damping);
}
/// Its arrays.
template <Either<EpPosterior> S, class Visit>
void visit_arrays(S& s, Visit&& visit) {
  visit("mean", s.mean);
  visit("coefficients", s.coefficients);
  visit("outputs", s.outputs);
  visit("variances", s.variances);
  visit("site_precision", s.site_precision);
  visit("site_shift", s.site_shift);
  visit("pivots", s.pivots);
  visit("signs", s.signs);
  visit("precision_factor", s.precision_factor);
  visit("pivot_factor", s.pivot_factor);
}

/// What an interpolator's training knows of S beside its factor.
struct InterpolatorNumbers {
  double noise_variance = 0;
  double jitter = 0;
  double relative_jitter = 0;
  double rcond = 0;
};
template <Either<InterpolatorNumbers> S, class Visit>
void visit_fields(S& s, Visit&& visit) {
  visit("noise_variance", s.noise_variance);
  visit("jitter", s.jitter);
  visit("relative_jitter", s.relative_jitter);
  visit("rcond", s.rcond);
}

/// A list of numbers, whole ones as I64. Refers to the others.
template <class T>
void write_array(const std::vector<T>& list, const std::string& key, TensorFileWriter& file) {
  if constexpr (std::integral<T>) {
    file.keep(key, std::vector<std::int64_t>(list.begin(), list.end()));
  } else {
    file.refer<T>(key, {list.size()}, list);
  }
}
/// A factor's lower triangle, zeros above it.
inline void write_array(const Eigen::MatrixXd& factor, const std::string& key,
                        TensorFileWriter& file) {
  file.keep(key, RowMatrix<double>(factor.triangularView<Eigen::Lower>()));
}

/// \throws DataError on whole numbers that are out of range, and as `TensorFile`.
template <class T>
void read_array(std::vector<T>& list, const std::string& key, const TensorFile& file) {
  using Stored = std::conditional_t<std::integral<T>, std::int64_t, T>;
  for (const Stored value : file.list<Stored>(key)) {
    if constexpr (std::integral<T>) {
      ensure<DataError>(std::in_range<T>(value), file.name(), ": the array '", key, "' holds ",
                        value, ", which is out of range");
    }
    list.push_back(static_cast<T>(value));
  }
}
inline void read_array(Eigen::MatrixXd& matrix, const std::string& key, const TensorFile& file) {
  matrix = read_matrix<double>(file, key);
}

/// The JSON of a key. \throws DataError on another, or where there is none.
template <class T>
[[nodiscard]] T read_json_value(const char* key, const TensorFile& file) {
  T value{};
  from_json_value(parse_json(file.text(key), join(file.name(), ": '", key, "'")), value,
                  join(file.name(), ": ", key));
  return value;
}

inline constexpr std::string_view posterior_kind = "bpm posterior classifier";

template <class Kernel, class Inputs>
struct StoredModel<PosteriorClassifier<Kernel, Inputs>> {
  using Model = PosteriorClassifier<Kernel, Inputs>;
  static constexpr bool known = true;
  static constexpr std::string_view kind = posterior_kind;

  [[nodiscard]] static std::string array_key(std::size_t column, const char* name) {
    return join("posterior.", column, ".", name);
  }
  static void write(const Model& model, TensorFileWriter& file) {
    write_classifier(model, file);
    const Model& held = file.hold(model);  // Shared, not copied.
    nlohmann::json posteriors = nlohmann::json::array();
    for (std::size_t c = 0; c < static_cast<std::size_t>(held.columns()); ++c) {
      posteriors.push_back(to_json_value(held.posterior(c)));
      visit_arrays(held.posterior(c), [&](const char* name, const auto& array) {
        write_array(array, array_key(c, name), file);
      });
    }
    file.set("posteriors", posteriors.dump());
  }
  [[nodiscard]] static Model read(const TensorFile& file) {
    auto posteriors = read_json_value<std::vector<EpPosterior>>("posteriors", file);
    for (std::size_t c = 0; c < posteriors.size(); ++c) {
      visit_arrays(posteriors[c], [&](const char* name, auto& array) {
        read_array(array, array_key(c, name), file);
      });
    }
    auto classifier = read_classifier<Classifier<Kernel, Inputs>>(file);
    try {
      return Model(std::move(classifier), std::move(posteriors));
    } catch (const std::invalid_argument& error) {
      throw DataError(join(file.name(), ": ", error.what()));
    }
  }
};

template <class Kernel, class Inputs>
struct StoredModel<InterpolatorTraining<Kernel, Inputs>> {
  using Model = InterpolatorTraining<Kernel, Inputs>;
  static constexpr bool known = true;
  static constexpr std::string_view kind = "bpm interpolator";

  static void write(const Model& model, TensorFileWriter& file) {
    write_classifier(model.classifier(), file);
    const JitteredCholesky& factor = model.factor();
    file.set("interpolator",
             to_json_value(InterpolatorNumbers{model.noise_variance(), factor.jitter(),
                                               factor.relative_jitter(), factor.rcond()})
                 .dump());
    file.keep("interpolator.values", RowMatrix<double>(model.values()));
    write_array(factor.llt().matrixLLT(), "interpolator.factor", file);
  }
  [[nodiscard]] static Model read(const TensorFile& file) {
    const auto numbers = read_json_value<InterpolatorNumbers>("interpolator", file);
    Eigen::MatrixXd factor;
    read_array(factor, "interpolator.factor", file);
    auto classifier = read_classifier<Classifier<Kernel, Inputs>>(file);
    try {
      return Model(numbers.noise_variance, read_matrix<double>(file, "interpolator.values"),
                   std::make_shared<const JitteredCholesky>(JitteredCholesky::from_factor(
                       factor, numbers.jitter, numbers.relative_jitter, numbers.rcond)),
                   std::move(classifier));
    } catch (const std::invalid_argument& error) {
      throw DataError(join(file.name(), ": ", error.what()));
    }
  }
};

}}}  // namespace bpm::detail

namespace bpm { inline namespace BPM_TARGET {

/// Whether the bytes of a model file hold posteriors beside their classifier, which `load` of a
/// `PosteriorClassifier` reads and `load_any` leaves out. `name` stands in messages.
/// \throws DataError on bytes that are no model.
[[nodiscard]] inline bool is_posterior_model(std::span<const std::byte> bytes,
                                             const std::string& name = "the model") {
  const detail::TensorFile file(bytes, name);
  const bool holds = file.has("kind") && file.text("kind") == detail::posterior_kind;
  detail::check_model(file, holds ? detail::posterior_kind : detail::model_kind);
  return holds;
}

}}  // namespace bpm
