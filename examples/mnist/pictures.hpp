// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/images/gradient_features.hpp"
#include "bpm/images/image_shape.hpp"
#include "bpm/kernel_values/kernel_matrix.hpp"
#include "judged_digit.hpp"

/// \file
/// Digits that a classifier misreads or is least sure of, and the training digits that made it so.

namespace bpm_examples {

namespace pictures_detail {

/// The column of outputs that a class has, and its sign there.
template <class Fitted>
[[nodiscard]] std::pair<Eigen::Index, double> column_of(const Fitted& fitted, std::size_t which) {
  if (fitted.columns() > 1) return {static_cast<Eigen::Index>(which), 1.0};
  return {0, which == 1 ? 1.0 : -1.0};
}

}  // namespace pictures_detail

/// The `wrong` mistakes of highest score, and the `unsure` digits of lowest score among those that
/// are right; each with the `voices` support points that spoke loudest for the decision and as many
/// against. `values`: outputs of `inputs`, by a classifier without bias, divided by sqrt(k(x, x));
/// `labels`: their classes; `scores`: what digits are rejected by; `label_of(number)`: the class of
/// a training example.
template <class Fitted, class Inputs, class LabelOf>
[[nodiscard]] std::vector<JudgedDigit> judged_digits(const Fitted& fitted, const Inputs& inputs,
                                                     const Eigen::MatrixXd& values,
                                                     const std::vector<int>& labels,
                                                     const std::vector<double>& scores,
                                                     const LabelOf& label_of, std::size_t wrong,
                                                     std::size_t unsure, std::size_t voices) {
  const std::vector<int> decided = fitted.labels_of(values);
  std::vector<std::size_t> mistakes;
  std::vector<std::size_t> right;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    (decided[i] == labels[i] ? right : mistakes).push_back(i);
  }
  std::ranges::stable_sort(mistakes, [&](auto i, auto j) { return scores[i] > scores[j]; });
  std::ranges::stable_sort(right, [&](auto i, auto j) { return scores[i] < scores[j]; });
  mistakes.resize(std::min(mistakes.size(), wrong));
  right.resize(std::min(right.size(), unsure));
  mistakes.insert(mistakes.end(), right.begin(), right.end());

  const auto& parts = fitted.parts();
  const auto& classes = fitted.classes();
  const auto place_of = [&](int label) {
    return static_cast<std::size_t>(std::ranges::find(classes, label) - classes.begin());
  };
  std::vector<JudgedDigit> digits;
  for (const std::size_t i : mistakes) {
    const auto row = static_cast<Eigen::Index>(i);
    const auto output = [&](std::size_t place) {
      const auto [column, sign] = pictures_detail::column_of(fitted, place);
      return sign * values(row, column);
    };
    const std::size_t winner = place_of(decided[i]);
    std::size_t other = place_of(labels[i]);
    if (other == winner || other == classes.size()) {
      other = winner == 0 ? 1 : 0;
      for (std::size_t c = 0; c < classes.size(); ++c) {
        if (c != winner && output(c) > output(other)) other = c;
      }
    }
    JudgedDigit digit{row,           labels[i], decided[i], classes[other], output(winner),
                      output(other), {},        {}};
    const Inputs query = inputs.middleRows(row, 1);
    const Eigen::VectorXd kernels = bpm::kernel_matrix(parts.kernel, parts.inputs, query);
    const double norm = std::sqrt(bpm::kernel_diagonal_values(parts.kernel, query)[0]);
    const auto [plus, plus_sign] = pictures_detail::column_of(fitted, winner);
    const auto [minus, minus_sign] = pictures_detail::column_of(fitted, other);
    std::vector<Voice> all;
    for (std::size_t s = 0; s < parts.support.size(); ++s) {
      const auto at = static_cast<Eigen::Index>(s);
      const double weight =
          plus_sign * parts.coefficients(at, plus) - minus_sign * parts.coefficients(at, minus);
      all.push_back({parts.support[s], label_of(parts.support[s]), weight * kernels[at] / norm});
    }
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.part > b.part; });
    for (const Voice& voice : all) {
      if (voice.part > 0 && digit.for_it.size() < voices) digit.for_it.push_back(voice);
    }
    std::ranges::reverse(all);
    for (const Voice& voice : all) {
      if (voice.part < 0 && digit.against_it.size() < voices) digit.against_it.push_back(voice);
    }
    digits.push_back(std::move(digit));
  }
  return digits;
}

/// Draws the digits with their voices and, where there are any, the features of the first of them,
/// as an SVG file, whole or not at all. Throws `OutputError` as `write_plot`.
void write_pictures(const std::vector<JudgedDigit>& digits, const bpm::ImageShape& shape,
                    const std::optional<bpm::GradientFeatures>& features,
                    const std::filesystem::path& path);

}  // namespace bpm_examples
