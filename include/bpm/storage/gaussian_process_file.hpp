// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/gaussian_process/expectation_propagation/ep_posterior.hpp"
#include "bpm/gaussian_process/expectation_propagation/machine.hpp"
#include "bpm/gaussian_process/interpolation/kernel_complexity.hpp"
#include "bpm/gaussian_process/interpolation/kernel_interpolator.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/storage/model_file.hpp"
#include "bpm/storage/stored_members.hpp"
#include "bpm/storage/tensor_file.hpp"

/// \file
/// This header extends `save` and `load` to the results of expectation propagation and kernel
/// interpolators:
///
///     bpm::save(bpm::BayesPointMachine(kernel, bpm::ExpectationPropagation{}).fit(x, y), "p");
///     const auto posterior = bpm::load<bpm::PosteriorClassifier<Kernel, Inputs>>("p");
///     bpm::save(bpm::KernelInterpolator(kernel).train(x, y), "i");
///     const auto training = bpm::load<bpm::InterpolatorTraining<Kernel, Inputs>>("i");
///
/// (`KernelInterpolator::fit` returns a `Classifier`, which model_file.hpp saves.) A file is that
/// of the model's classifier with further arrays: 16 r^2 + 16 r + 48 m bytes per column of a
/// posterior, 8 n^2 + 8 n per column of an interpolator.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Numbers of an interpolator's training, besides the factor of S.
struct InterpolatorNumbers {
  double noise_variance = 0;
  double jitter = 0;
  double relative_jitter = 0;
  double rcond = 0;

  template <class Self, class Visit>
  static void visit_members(Self& self, Visit&& visit) {
    visit("noise_variance", self.noise_variance);
    visit("jitter", self.jitter);
    visit("relative_jitter", self.relative_jitter);
    visit("rcond", self.rcond);
  }
};

inline constexpr std::string_view posterior_kind = "bpm posterior classifier";

template <class Kernel, class Inputs>
struct StoredModel<PosteriorClassifier<Kernel, Inputs>> {
  using Model = PosteriorClassifier<Kernel, Inputs>;
  static constexpr std::string_view kind = posterior_kind;

  static void write(const Model& model, TensorFileWriter& file) {
    write_classifier(model, file);
    const Model& held = file.hold(model);  // Shared, not copied.
    Json posteriors = Json::array();
    for (std::size_t c = 0; c < static_cast<std::size_t>(held.columns()); ++c) {
      posteriors.push_back(MemberWriter::json_of(held.posterior(c), &file, join("posterior.", c)));
    }
    file.set("posteriors", posteriors.dump());
  }
  [[nodiscard]] static Model read(const TensorFile& file) {
    const Json list = file.json("posteriors");
    ensure<DataError>(list.is_array(), file.name(), ": posteriors is no list");
    std::vector<EpPosterior> posteriors;
    for (const Json& one : list) {
      const std::string key = join("posterior.", posteriors.size());
      MemberReader(file.name() + ": ", &file).read(one, posteriors.emplace_back(), key);
    }
    auto classifier = read_classifier<Classifier<Kernel, Inputs>>(file);
    return made_of_file(file.name(),
                        [&] { return Model(std::move(classifier), std::move(posteriors)); });
  }
};

template <class Kernel, class Inputs>
struct StoredModel<InterpolatorTraining<Kernel, Inputs>> {
  using Model = InterpolatorTraining<Kernel, Inputs>;
  static constexpr std::string_view kind = "bpm interpolator";

  static void write(const Model& model, TensorFileWriter& file) {
    write_classifier(model.classifier(), file);
    const JitteredCholesky& factor = model.factor();
    file.set("interpolator",
             to_json_value(InterpolatorNumbers{model.noise_variance(), factor.jitter(),
                                               factor.relative_jitter(), factor.rcond()})
                 .dump());
    file.keep("interpolator.values", RowMatrix<double>(model.values()));
    file.keep("interpolator.factor",
              RowMatrix<double>(factor.llt().matrixLLT().template triangularView<Eigen::Lower>()));
  }
  [[nodiscard]] static Model read(const TensorFile& file) {
    InterpolatorNumbers numbers;
    from_json_value(file.json("interpolator"), numbers, file.name() + ": interpolator");
    const Eigen::MatrixXd factor = read_matrix<double>(file, "interpolator.factor");
    auto classifier = read_classifier<Classifier<Kernel, Inputs>>(file);
    return made_of_file(file.name(), [&] {
      return Model(numbers.noise_variance, read_matrix<double>(file, "interpolator.values"),
                   std::make_shared<const JitteredCholesky>(JitteredCholesky::from_factor(
                       factor, numbers.jitter, numbers.relative_jitter, numbers.rcond)),
                   std::move(classifier));
    });
  }
};

}}}  // namespace bpm::detail

namespace bpm { inline namespace BPM_TARGET {

/// Returns whether the bytes of a model file contain posteriors beside their classifier, which
/// `load` of a `PosteriorClassifier` reads and `load_any` ignores. `name` is the file's in
/// messages. \throws DataError on bytes that are no model.
[[nodiscard]] inline bool is_posterior_model(std::span<const std::byte> bytes,
                                             const std::string& name = "the model") {
  const detail::TensorFile file(bytes, name);
  const bool holds = file.has("kind") && file.text("kind") == detail::posterior_kind;
  detail::check_model(file, holds ? detail::posterior_kind : detail::model_kind);
  return holds;
}

}}  // namespace bpm
