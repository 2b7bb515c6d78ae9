// SPDX-License-Identifier: MIT
// The error that a run reports is the error that it has; the cones with known centres.
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "billiard_problems.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/sample_version_space.hpp"
#include "catch.hpp"
#include "data.hpp"

using namespace law_tests;
using bpm::Billiard;

namespace {

struct ConeFile {
  Kernel inputs;
  Labels labels;
  Numbers outputs;  ///< Of the reference centre at norm 1.
};

/// Features, label, output in every row.
ConeFile read_cone(const std::filesystem::path& path) {
  std::vector<Numbers> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(std::stod(cell));
  }
  REQUIRE_FALSE(rows.empty());
  const std::size_t features = rows.front().size() - 2;
  ConeFile cone;
  cone.inputs.resize(std::ssize(rows), static_cast<Eigen::Index>(features));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < features; ++k) {
      cone.inputs(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = rows[i][k];
    }
    cone.labels.push_back(rows[i][features] > 0 ? 1 : -1);
    cone.outputs.push_back(rows[i][features + 1]);
  }
  return cone;
}

struct Found {
  Numbers centre;  ///< Coefficients.
  bpm::SamplerReport report;
};

Found centre_by(const Billiard& sampler, const Space& space, std::uint64_t seed) {
  Billiard::State state;
  bpm::RandomStreams streams{.seed = seed};
  Found found;
  found.report = bpm::sample_version_space(
      sampler, space, streams, {}, [](const bpm::Draw&) {}, state);
  found.centre = state.centre().coefficients;
  return found;
}

/// Angle in feature space between two classifiers.
double angle_of(const Kernel& kernel, const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  const double aa = a.dot(kernel * a);
  const double bb = b.dot(kernel * b);
  const Eigen::VectorXd off = a / std::sqrt(aa) - b / std::sqrt(bb);
  return 2 * std::asin(std::min(1.0, std::sqrt(std::max(0.0, off.dot(kernel * off))) / 2));
}

Eigen::VectorXd vector_of(const Numbers& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values));
}

/// The mean squared true error over the mean squared reported one.
double calibration(const Problem& problem, const Eigen::VectorXd& truth, const Billiard& sampler,
                   int seeds) {
  double off = 0;
  double reported = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Found found = centre_by(sampler, problem.space, static_cast<std::uint64_t>(seed));
    off += std::pow(angle_of(problem.kernel, vector_of(found.centre), truth), 2);
    reported += std::pow(found.report.chains->standard_error, 2);
  }
  return off / reported;
}

}  // namespace

TEST_CASE("billiard: the reported standard error is the true one, on average", "[at length]") {
  // Products of wedges, whose centre symmetry gives; refresh length chosen or given; one chain and
  // four.
  struct Run {
    std::vector<double> cosines;  ///< Between the points of each wedge.
    unsigned chains;
    double refresh_length;
    std::uint64_t draws = 64;
  };
  const std::vector<double> six{0.8, -0.8, 0.0};
  const std::vector<double> two{-0.5};
  // In 40 dimensions what chance explains is least. Draws that do not fill batches: 25, 31 a chain.
  std::vector<double> forty;
  for (int k = 0; k < 20; ++k) forty.push_back(six[k % 3]);
  for (const Run& run :
       {Run{two, 4, 0}, Run{two, 4, 1}, Run{six, 1, 0}, Run{six, 4, 0}, Run{six, 4, 1},
        Run{six, 4, 0, 100}, Run{forty, 4, 0, 100}, Run{forty, 4, 0, 124}, Run{forty, 2, 0, 50}}) {
    const auto rank = 2 * std::ssize(run.cosines);
    Kernel kernel = Kernel::Identity(rank, rank);
    Numbers alpha;
    for (std::size_t k = 0; k < run.cosines.size(); ++k) {
      const auto i = static_cast<Eigen::Index>(2 * k);
      const double cosine = run.cosines[k];
      kernel(i, i + 1) = kernel(i + 1, i) = cosine;
      const double opening = std::numbers::pi - std::acos(cosine);
      // The bisector is (s_1 + s_2) / norm.
      const double each = std::sin(opening / 2) / (opening / 2) / std::sqrt(2 + 2 * cosine);
      alpha.insert(alpha.end(), 2, each);
    }
    const double ratio = calibration(Problem(kernel, all_positive(rank)), vector_of(alpha),
                                     {.draws = run.draws,
                                      .bounces_per_draw = 100,
                                      .chains = run.chains,
                                      .refresh_length = run.refresh_length},
                                     400);
    INFO(rank << " dimensions, " << run.chains << " chains, refresh length " << run.refresh_length
              << ", " << run.draws << " draws: " << ratio);
    CHECK(ratio > 0.85);
    CHECK(ratio < 1.15);
  }
}

TEST_CASE("billiard: fewer than four batches tell nothing of the error") {
  const Found found = centre_by({.draws = 2, .bounces_per_draw = 100}, easy_problem().space, 1);
  CHECK(std::isinf(found.report.chains->standard_error));
  CHECK(found.report.chains->effective_draws == 0);
}

TEST_CASE("billiard: the four cones with known centres") {
  const auto data = test_support::data_dir();
  if (!data) return test_support::skip_without_data("reads the cones with known centres");
  for (const std::string name : {"cone_12_5", "cone_60_5", "cone_60_40", "cone_400_10"}) {
    const auto table = read_cone(*data / "cones" / (name + ".csv"));
    const Problem problem(gaussian_kernel(table.inputs, 0.5), table.labels);
    Billiard sampler{.draws = 200, .bounces_per_draw = 1000};
    Billiard::State state;
    bpm::RandomStreams streams;
    const bpm::SamplerReport report = bpm::sample_version_space(
        sampler, problem.space, streams, {}, [](const bpm::Draw&) {}, state);
    // The angle from outputs: <w, w'> = alpha' o' with unit norms. The reference's own error is up
    // to 0.0004 rad where the angle is taken so; its outputs have ten digits.
    const bpm::CentreOfMass& centre = state.centre();
    double cosine = 0;
    for (std::size_t i = 0; i < centre.coefficients.size(); ++i) {
      cosine += centre.coefficients[i] / centre.norm * table.outputs[i];
    }
    const double off = std::acos(std::min(1.0, cosine));
    INFO(name << ": " << off << " rad, reported " << report.chains->standard_error << ", path "
              << report.chains->path_length << ", refresh length "
              << report.chains->refresh_length);
    CHECK(report.chains->steps > 180'000);
    CHECK(off < 0.02);
    CHECK(off < 4 * report.chains->standard_error + 0.001);
    CHECK(report.chains->repairs == 0);
    CHECK(report.chains->chain_angle < 0.05);
  }
}
