// SPDX-License-Identifier: MIT
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "bpm/kernels/kernel.hpp"
#include "common/drawn_digits.hpp"
#include "data.hpp"

/// \file
/// Sets made by seed, of the kinds that the papers' seven are not: many classes, rings, trees,
/// images, words, noise, rare classes.

namespace any_data {

namespace {

/// Points from normal distributions in 20 dimensions, one class on either side of a plane; a fifth
/// of the labels are flipped.
[[nodiscard]] DataSet flipped(std::uint64_t seed) {
  DataSet set{.name = "flipped",
              .inputs = Inputs(10'000, 20),
              .train_fraction = 0.5,
              .hard = true,
              .linear_hard = true};
  bpm::RandomEngine engine(seed, 1);
  bpm::NormalDraws normal;
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    for (float& value : set.inputs.row(i)) value = static_cast<float>(normal(engine));
    const bool positive = set.inputs.row(i).head(5).sum() > 0;
    set.labels.push_back(positive != (bpm::uniform_unit(engine) < 0.2) ? 1 : 0);
  }
  return set;
}

/// Points without any pattern, of 300 classes.
[[nodiscard]] DataSet noise_300(std::uint64_t seed) {
  DataSet set{.name = "noise_300", .inputs = Inputs(7'200, 10), .train_fraction = 6000.0 / 7200};
  bpm::RandomEngine engine(seed, 2);
  bpm::NormalDraws normal;
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    for (float& value : set.inputs.row(i)) value = static_cast<float>(normal(engine));
    set.labels.push_back(static_cast<int>(i % 300));
  }
  return set;
}

/// 26 classes of three normal clusters each; 16 features, rounded to whole numbers from 0 to 15.
[[nodiscard]] DataSet clusters_26(std::uint64_t seed) {
  constexpr int classes = 26;
  DataSet set{.name = "clusters_26",
              .inputs = Inputs(20'000, 16),
              .train_fraction = 0.75,
              .draws = 10,
              .hard = true};
  bpm::RandomEngine engine(seed, 3);
  bpm::NormalDraws normal;
  bpm::RowMatrix<double> centres(3 * classes, 16);
  for (double& value : centres.reshaped()) value = 7.5 + 2.7 * normal(engine);
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    const int label = static_cast<int>(i % classes);
    const auto cluster = static_cast<Eigen::Index>(3 * label + bpm::uniform_below(engine, 3U));
    for (Eigen::Index j = 0; j < 16; ++j) {
      const double value = std::round(centres(cluster, j) + 1.8 * normal(engine));
      set.inputs(i, j) = static_cast<float>(std::clamp(value, 0.0, 15.0));
    }
    set.labels.push_back(label);
  }
  return set;
}

/// Two classes, each from a normal distribution in 6 dimensions.
struct TwoNormals {
  double distance = 0;  ///< Between the means, in each feature.
  double scale = 1;     ///< Of the second class.
  double share = 0.5;   ///< Of the second class.
};

/// Points of them, of which 300 train.
[[nodiscard]] DataSet two_normals(const std::string& name, const TwoNormals& classes,
                                  std::uint64_t seed, std::uint64_t stream) {
  DataSet set{.name = name, .inputs = Inputs(2'300, 6), .train_limit = 300};
  bpm::RandomEngine engine(seed, stream);
  bpm::NormalDraws normal;
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    const bool second = bpm::uniform_unit(engine) < classes.share;
    for (float& value : set.inputs.row(i)) {
      const double draw = normal(engine);
      value = static_cast<float>(second ? classes.distance + classes.scale * draw : draw);
    }
    set.labels.push_back(second ? 1 : 0);
  }
  return set;
}

/// Classes of three normal clusters each in 12 dimensions; centres have deviation `spread` in each.
[[nodiscard]] DataSet clusters(const std::string& name, int classes, Eigen::Index rows,
                               double spread, std::uint64_t seed, std::uint64_t stream) {
  DataSet set{.name = name, .inputs = Inputs(rows + 3'000, 12)};
  set.train_fraction = 1 - 3'000.0 / static_cast<double>(rows + 3'000);
  bpm::RandomEngine engine(seed, stream);
  bpm::NormalDraws normal;
  bpm::RowMatrix<double> centres(Eigen::Index{3} * classes, 12);
  for (double& value : centres.reshaped()) value = spread * normal(engine);
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    const auto label = static_cast<int>(bpm::uniform_below(engine, static_cast<unsigned>(classes)));
    const auto cluster = static_cast<Eigen::Index>(3 * label + bpm::uniform_below(engine, 3U));
    for (Eigen::Index j = 0; j < 12; ++j) {
      set.inputs(i, j) = static_cast<float>(centres(cluster, j) + normal(engine));
    }
    set.labels.push_back(label);
  }
  return set;
}

/// Rings around the origin of a plane, a class each, and four features without meaning; a share
/// `noise` of the labels is drawn anew, from all classes.
[[nodiscard]] DataSet rings(const std::string& name, int classes, double noise, std::uint64_t seed,
                            std::uint64_t stream) {
  DataSet set{.name = name, .inputs = Inputs(5'000, 6), .train_fraction = 0.4};
  bpm::RandomEngine engine(seed, stream);
  bpm::NormalDraws normal;
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    auto label = static_cast<int>(bpm::uniform_below(engine, static_cast<unsigned>(classes)));
    const double radius = 1 + label + 0.25 * normal(engine);
    const double angle = 2 * std::numbers::pi * bpm::uniform_unit(engine);
    set.inputs(i, 0) = static_cast<float>(radius * std::cos(angle));
    set.inputs(i, 1) = static_cast<float>(radius * std::sin(angle));
    for (Eigen::Index j = 2; j < 6; ++j) set.inputs(i, j) = static_cast<float>(normal(engine));
    if (bpm::uniform_unit(engine) < noise) {
      label = static_cast<int>(bpm::uniform_below(engine, static_cast<unsigned>(classes)));
    }
    set.labels.push_back(label);
  }
  return set;
}

/// Normal points of six dimensions, classes by the distance from the origin; a twentieth of the
/// labels is drawn anew.
[[nodiscard]] DataSet shells_4(std::uint64_t seed) {
  DataSet set{.name = "shells_4", .inputs = Inputs(5'000, 6), .train_fraction = 0.4};
  bpm::RandomEngine engine(seed, 20);
  bpm::NormalDraws normal;
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    for (float& value : set.inputs.row(i)) value = static_cast<float>(normal(engine));
    const auto radius = static_cast<double>(set.inputs.row(i).norm());
    int label = radius < 1.8 ? 0 : radius < 2.2 ? 1 : radius < 2.7 ? 2 : 3;
    if (bpm::uniform_unit(engine) < 0.05) label = static_cast<int>(bpm::uniform_below(engine, 4U));
    set.labels.push_back(label);
  }
  return set;
}

/// Uniform points of a cube of four dimensions, classes by the largest coordinate: boxes in one
/// another; a tenth of the labels is drawn anew.
[[nodiscard]] DataSet boxes_3(std::uint64_t seed) {
  DataSet set{.name = "boxes_3", .inputs = Inputs(5'000, 4), .train_fraction = 0.4};
  bpm::RandomEngine engine(seed, 21);
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    for (float& value : set.inputs.row(i)) {
      value = static_cast<float>(2 * bpm::uniform_unit(engine) - 1);
    }
    const float largest = set.inputs.row(i).cwiseAbs().maxCoeff();
    int label = largest < 0.7F ? 0 : largest < 0.85F ? 1 : 2;
    if (bpm::uniform_unit(engine) < 0.1) label = static_cast<int>(bpm::uniform_below(engine, 3U));
    set.labels.push_back(label);
  }
  return set;
}

/// Ten uniform features of other units, labels by the leaves of a random tree of a given depth.
[[nodiscard]] DataSet tree(const std::string& name, int classes, int depth, std::uint64_t seed,
                           std::uint64_t stream) {
  DataSet set{.name = name, .inputs = Inputs(5'000, 10), .train_fraction = 0.4};
  bpm::RandomEngine engine(seed, stream);
  const std::size_t inner = (std::size_t{1} << static_cast<unsigned>(depth)) - 1;
  std::vector<Eigen::Index> feature(inner);
  std::vector<double> threshold(inner);
  for (std::size_t node = 0; node < inner; ++node) {
    feature[node] = static_cast<Eigen::Index>(bpm::uniform_below(engine, 10U));
    threshold[node] = 0.2 + 0.6 * bpm::uniform_unit(engine);
  }
  std::vector<int> leaves(inner + 1);
  bpm::random_permutation(std::span<int>(leaves), engine);
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    std::array<double, 10> values{};
    for (double& value : values) value = bpm::uniform_unit(engine);
    std::size_t node = 0;
    while (node < inner) {
      const bool right = values[static_cast<std::size_t>(feature[node])] > threshold[node];
      node = 2 * node + (right ? 2 : 1);
    }
    for (Eigen::Index j = 0; j < 10; ++j) {
      set.inputs(i, j) =
          static_cast<float>(std::pow(10.0, j % 4) * values[static_cast<std::size_t>(j)]);
    }
    set.labels.push_back(leaves[node - inner] % classes);
  }
  return set;
}

/// Four normal classes of the shares .7, .2, .07 and .03, in 8 dimensions.
[[nodiscard]] DataSet uneven(std::uint64_t seed) {
  DataSet set{.name = "uneven_4", .inputs = Inputs(5'000, 8), .train_fraction = 0.4};
  bpm::RandomEngine engine(seed, 14);
  bpm::NormalDraws normal;
  bpm::RowMatrix<double> centres(4, 8);
  for (double& value : centres.reshaped()) value = 0.8 * normal(engine);
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    const double at = bpm::uniform_unit(engine);
    const int label = at < 0.7 ? 0 : at < 0.9 ? 1 : at < 0.97 ? 2 : 3;
    for (Eigen::Index j = 0; j < 8; ++j) {
      set.inputs(i, j) = static_cast<float>(centres(label, j) + normal(engine));
    }
    set.labels.push_back(label);
  }
  return set;
}

/// Two classes in 50 dimensions: the sign of a sum of five of them and of their products with five
/// others, with normal noise of 0.4 of its deviation.
[[nodiscard]] DataSet noisy_50(const std::string& name, Eigen::Index rows, std::uint64_t seed,
                               std::uint64_t stream) {
  DataSet set{.name = name, .inputs = Inputs(rows + 5'000, 50)};
  set.train_fraction = 1 - 5'000.0 / static_cast<double>(rows + 5'000);
  bpm::RandomEngine engine(seed, stream);
  bpm::NormalDraws normal;
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    for (float& value : set.inputs.row(i)) value = static_cast<float>(normal(engine));
    double score = normal(engine);
    for (Eigen::Index j = 0; j < 5; ++j) {
      score += set.inputs(i, j) + 0.5 * set.inputs(i, j) * set.inputs(i, j + 5);
    }
    set.labels.push_back(score > 0 ? 1 : 0);
  }
  return set;
}

/// Drawn digits of 28 x 28 pixels.
[[nodiscard]] DataSet pixels(const std::string& name, Eigen::Index rows, std::uint64_t seed) {
  const auto digits = bpm_examples::draw_digits(rows + 2'000, seed);
  return {.name = name,
          .inputs = digits.images.cast<float>() / 255,
          .labels = digits.labels,
          .train_fraction = 1 - 2'000.0 / static_cast<double>(rows + 2'000),
          .standardise = false};
}

/// Words of 1000, 40 a row, of unit length: a topic prefers 60 words of its own for a fifth of
/// them; frequencies fall like 1 / rank.
[[nodiscard]] DataSet words(const std::string& name, int classes, std::uint64_t seed) {
  constexpr Eigen::Index vocabulary = 1'000;
  DataSet set{.name = name,
              .inputs = Inputs::Zero(4'000, vocabulary),
              .train_fraction = 0.5,
              .standardise = false};
  bpm::RandomEngine engine(seed, 18);
  bpm::RowMatrix<double> of_topic(classes, 60);
  for (double& value : of_topic.reshaped()) {
    value = std::floor(bpm::uniform_unit(engine) * static_cast<double>(vocabulary));
  }
  for (Eigen::Index i = 0; i < set.inputs.rows(); ++i) {
    const auto label = static_cast<int>(bpm::uniform_below(engine, static_cast<unsigned>(classes)));
    for (int k = 0; k < 40; ++k) {
      auto word = static_cast<Eigen::Index>(
          std::pow(static_cast<double>(vocabulary), bpm::uniform_unit(engine)) - 1);
      if (bpm::uniform_unit(engine) < 0.2) {
        word = static_cast<Eigen::Index>(of_topic(label, bpm::uniform_below(engine, 60U)));
      }
      set.inputs(i, std::min(word, vocabulary - 1)) += 1;
    }
    set.inputs.row(i).normalize();
    set.labels.push_back(label);
  }
  return set;
}

using Maker = std::function<DataSet(const std::string&, std::uint64_t)>;

[[nodiscard]] const std::vector<std::pair<std::string, Maker>>& makers() {
  using Name = const std::string&;
  using Seed = std::uint64_t;
  static const std::vector<std::pair<std::string, Maker>> all{
      {"flipped", [](Name, Seed s) { return flipped(s); }},
      {"noise_300", [](Name, Seed s) { return noise_300(s); }},
      {"clusters_26", [](Name, Seed s) { return clusters_26(s); }},
      {"means", [](Name n, Seed s) { return two_normals(n, {.distance = 0.8}, s, 4); }},
      {"covariances", [](Name n, Seed s) { return two_normals(n, {.scale = 2}, s, 5); }},
      {"rare",
       [](Name n, Seed s) { return two_normals(n, {.distance = 0.8, .share = 0.15}, s, 6); }},
      {"clusters_3", [](Name n, Seed s) { return clusters(n, 3, 600, 0.9, s, 7); }},
      {"clusters_10", [](Name n, Seed s) { return clusters(n, 10, 2'000, 1.2, s, 8); }},
      {"clusters_40", [](Name n, Seed s) { return clusters(n, 40, 4'000, 1.6, s, 9); }},
      {"rings_4", [](Name n, Seed s) { return rings(n, 4, 0, s, 10); }},
      {"rings_3_noisy", [](Name n, Seed s) { return rings(n, 3, 0.2, s, 11); }},
      {"shells_4", [](Name, Seed s) { return shells_4(s); }},
      {"boxes_3", [](Name, Seed s) { return boxes_3(s); }},
      {"tree_5", [](Name n, Seed s) { return tree(n, 5, 5, s, 12); }},
      {"tree_12", [](Name n, Seed s) { return tree(n, 12, 6, s, 13); }},
      {"uneven_4", [](Name, Seed s) { return uneven(s); }},
      {"noisy_50_3000", [](Name n, Seed s) { return noisy_50(n, 3'000, s, 15); }},
      {"noisy_50_10000", [](Name n, Seed s) { return noisy_50(n, 10'000, s, 16); }},
      {"pixels_1000", [](Name n, Seed s) { return pixels(n, 1'000, s); }},
      {"pixels_5000", [](Name n, Seed s) { return pixels(n, 5'000, s); }},
      {"words_5", [](Name n, Seed s) { return words(n, 5, s); }},
  };
  return all;
}

}  // namespace

const std::vector<std::string>& made_sets() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const auto& maker : makers()) result.push_back(maker.first);
    return result;
  }();
  return names;
}

DataSet made_set(const std::string& name, std::uint64_t seed) {
  const auto found = std::ranges::find(makers(), name, &std::pair<std::string, Maker>::first);
  return found->second(name, seed);
}

}  // namespace any_data
