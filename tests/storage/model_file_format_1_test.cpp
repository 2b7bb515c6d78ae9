// SPDX-License-Identifier: MIT
// Models that the first version with a format wrote: every later one reads them to the same
// outputs.

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/classifier.hpp"
#include "bpm/storage/gaussian_process_file.hpp"
#include "bpm/storage/model_file.hpp"
#include "catch.hpp"
#include "places.hpp"

namespace {

using Floats = bpm::RowMatrix<float>;

const std::filesystem::path format_1_folder = std::filesystem::path(BPM_TEST_MODELS) / "format_1";

/// Points on a spiral, the same on every machine but for rounding.
Floats spiral(Eigen::Index count) {
  Floats inputs(count, 3);
  for (Eigen::Index i = 0; i < count; ++i) {
    const double t = 0.37 * static_cast<double>(i);
    inputs(i, 0) = static_cast<float>((1 + 0.05 * t) * std::cos(t));
    inputs(i, 1) = static_cast<float>((1 + 0.05 * t) * std::sin(t));
    inputs(i, 2) = static_cast<float>(0.1 * t);
  }
  return inputs;
}
bpm::RowMatrix<std::uint8_t> spiral_bytes(Eigen::Index count) {
  return (spiral(count).array() * 30 + 128).cast<std::uint8_t>();
}
std::vector<std::string> spiral_words(Eigen::Index count) {
  std::vector<std::string> all;
  const Floats inputs = spiral(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    all.push_back(std::string(static_cast<std::size_t>(5 + inputs(i, 0) * 2), 'a') +
                  std::string(static_cast<std::size_t>(5 + inputs(i, 1) * 2), 'b'));
  }
  return all;
}

constexpr Eigen::Index spiral_queries = 7;

/// Compares a row a query with those in NAME.txt.
void check_rows(const std::string& name, const Eigen::MatrixXd& values) {
  std::ifstream outputs(format_1_folder / (name + ".txt"));
  REQUIRE(values.rows() == spiral_queries);
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    for (Eigen::Index c = 0; c < values.cols(); ++c) {
      double expected = 0;
      REQUIRE(outputs >> expected);
      CHECK(values(i, c) == Approx(expected).epsilon(1e-4).margin(1e-5));
    }
  }
  double further = 0;
  CHECK_FALSE(outputs >> further);
}

/// Reads the model NAME, and compares its outputs for the queries with those in NAME.txt.
template <class Kernel, class Queries>
void check_model(const std::string& name, const Queries& queries) {
  CAPTURE(name);
  using Model = bpm::Classifier<Kernel, Queries>;
  const auto model = bpm::load<Model>(format_1_folder / (name + ".safetensors"));
  check_rows(name, model.decision_values(queries));
}

}  // namespace

TEST_CASE("models of format 1 are read to the outputs that they had") {
  using namespace bpm::detail;
  const Floats few = spiral(spiral_queries);
  check_model<bpm::Gaussian>("gaussian", few);
  check_model<bpm::Polynomial>("scaled_classes", bpm::RowMatrix<double>(few.cast<double>()));
  check_model<Biased<UnitInputs<bpm::Polynomial>>>("bytes", spiral_bytes(spiral_queries));
  check_model<Normalised<Sum<Biased<bpm::Linear>, Product<bpm::Exponential, bpm::ArcCosine>>>>(
      "sparse", bpm::SparseRowMatrix<float>(few.sparseView(0.2F, 1)));
  check_model<Scaled<bpm::Laplacian>>("billiard", few);
  check_model<bpm::Gaussian>("gibbs", few);
  check_model<test_support::Places>("strings", spiral_words(spiral_queries));
  check_model<bpm::PrecomputedKernel>(
      "kernel_values",
      bpm::RowMatrix<double>(bpm::kernel_matrix(bpm::Gaussian::from_width(2), few, spiral(40))));
}

TEST_CASE("posteriors and interpolators of format 1 are read to what they said") {
  const Floats few = spiral(spiral_queries);
  const auto posterior = bpm::load<bpm::PosteriorClassifier<bpm::Gaussian, Floats>>(
      format_1_folder / "posterior.safetensors");
  const Eigen::MatrixXd outputs = posterior.decision_values(few);
  const Eigen::MatrixXd probability = posterior.predict_probability(few);
  Eigen::MatrixXd rows(spiral_queries, 9);  // By class: output, variance, probability.
  for (Eigen::Index c = 0; c < 3; ++c) {
    rows.col(3 * c) = outputs.col(c);
    rows.col(3 * c + 1) = posterior.latent(few, static_cast<std::size_t>(c)).variance;
    rows.col(3 * c + 2) = probability.col(c);
  }
  check_rows("posterior", rows);
  CHECK(posterior.notes.seed == 5);

  using Doubles = bpm::RowMatrix<double>;
  const auto training = bpm::load<bpm::InterpolatorTraining<bpm::ArcCosine, Doubles>>(
      format_1_folder / "interpolator.safetensors");
  const Doubles queries = few.cast<double>();
  Eigen::MatrixXd predicted(spiral_queries, 2);  // Output and variance.
  predicted.col(0) = training.classifier().decision_values(queries);
  predicted.col(1) = training.variances(queries);
  check_rows("interpolator", predicted);
  CHECK_FALSE(training.classifier().notes.seed);
}
