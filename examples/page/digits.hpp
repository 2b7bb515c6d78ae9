// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/images/gradient_features.hpp"
#include "bpm/images/image_shape.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/classifier.hpp"

/// \file
/// What the program that makes the page's model and the page itself have in common: a drawing made
/// a digit like MNIST's, the machine, its file, and the training digits that speak.

namespace digit_page {

using Bytes = bpm::RowMatrix<std::uint8_t>;
using Kernel = decltype(bpm::on_unit_inputs(bpm::Polynomial(15, 1, 1)));
using Machine = bpm::Classifier<Kernel, Bytes>;

inline constexpr bpm::ImageShape shape{28, 28};
inline constexpr std::size_t pixels = 28 * 28;
inline constexpr std::size_t voices = 6;  ///< Training digits that are shown for and against.

[[nodiscard]] inline Kernel kernel() { return bpm::on_unit_inputs(bpm::Polynomial(15, 1, 1)); }

/// A drawing of side x side grey levels as MNIST's digits are: what is drawn is scaled, its
/// proportions kept, to fit a box of 20 x 20 pixels, each of them the mean of what it covers, and
/// the box is moved by whole pixels until the centre of mass is nearest to pixel (14, 14), counted
/// from 0, as it is in MNIST: half a pixel below and right of the middle of 28 x 28. All zeros
/// where nothing is drawn.
[[nodiscard]] inline std::array<std::uint8_t, pixels> centred(std::span<const std::uint8_t> drawing,
                                                              std::size_t side) {
  constexpr double box = 20;
  constexpr int middle = 14;
  // What is fainter is the edge of a smoothed line.
  constexpr std::uint8_t faintest = 8;
  std::array<std::uint8_t, pixels> image{};
  std::size_t top = side;
  std::size_t bottom = 0;
  std::size_t left = side;
  std::size_t right = 0;
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      if (drawing[y * side + x] < faintest) continue;
      top = std::min(top, y);
      bottom = std::max(bottom, y + 1);
      left = std::min(left, x);
      right = std::max(right, x + 1);
    }
  }
  if (bottom == 0) return image;

  // A pixel of the box is the mean of cell x cell grey levels.
  const auto height = static_cast<double>(bottom - top);
  const auto width = static_cast<double>(right - left);
  const double cell = std::max(height, width) / box;
  const int rows = std::max(1, static_cast<int>(std::lround(height / cell)));
  const int columns = std::max(1, static_cast<int>(std::lround(width / cell)));
  // The shares of the grey levels from `first` to `last` that pixel p of `count` covers.
  const auto covered = [&](int p, int count, std::size_t first, std::size_t last) {
    const double middle_of_all = static_cast<double>(first + last) / 2;
    const double begin = middle_of_all + (p - count / 2.0) * cell;
    std::vector<std::pair<std::size_t, double>> shares;
    const double end = std::min(begin + cell, static_cast<double>(last));
    for (auto at = std::max(first, static_cast<std::size_t>(std::max(0.0, std::floor(begin))));
         static_cast<double>(at) < end; ++at) {
      const auto from = static_cast<double>(at);
      shares.emplace_back(at, std::min(from + 1, end) - std::max(from, begin));
    }
    return shares;
  };
  Eigen::MatrixXd small = Eigen::MatrixXd::Zero(rows, columns);
  std::vector<std::vector<std::pair<std::size_t, double>>> across;
  for (int c = 0; c < columns; ++c) across.push_back(covered(c, columns, left, right));
  for (int r = 0; r < rows; ++r) {
    for (const auto& [y, down] : covered(r, rows, top, bottom)) {
      for (int c = 0; c < columns; ++c) {
        for (const auto& [x, share] : across[static_cast<std::size_t>(c)]) {
          small(r, c) += down * share * drawing[y * side + x];
        }
      }
    }
  }
  small /= cell * cell;

  double mass = 0;
  double at_row = 0;
  double at_column = 0;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      mass += small(r, c);
      at_row += small(r, c) * r;
      at_column += small(r, c) * c;
    }
  }
  if (mass <= 0) return image;
  const int down = middle - static_cast<int>(std::lround(at_row / mass));
  const int across_by = middle - static_cast<int>(std::lround(at_column / mass));
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const int y = r + down;
      const int x = c + across_by;
      if (y < 0 || y >= 28 || x < 0 || x >= 28) continue;
      image[static_cast<std::size_t>(28 * y + x)] =
          static_cast<std::uint8_t>(std::lround(std::min(255.0, small(r, c))));
    }
  }
  return image;
}

/// A machine for digits and the pictures of its support points.
struct Model {
  Machine machine;
  Bytes pictures;           ///< One a support point, as in MNIST.
  std::vector<int> labels;  ///< Of the support points.
};

namespace file_detail {

inline constexpr std::string_view magic = "bpmpage1";

template <class T>
void put(std::vector<char>& file, const T* values, std::size_t count) {
  const auto* bytes = reinterpret_cast<const char*>(values);
  file.insert(file.end(), bytes, bytes + count * sizeof(T));
}

/// Takes values off the front of what is left of a file.
template <class T>
void take(std::span<const char>& file, T* values, std::size_t count) {
  if (file.size() < count * sizeof(T)) throw std::runtime_error("the page's model is cut short");
  std::memcpy(values, file.data(), count * sizeof(T));
  file = file.subspan(count * sizeof(T));
}

}  // namespace file_detail

/// The model as bytes, least byte first: the mark, the numbers of support points and of features,
/// the slope, then labels, coefficients in single precision, features, pictures.
[[nodiscard]] inline std::vector<char> to_file(const Machine& machine, const Bytes& pictures,
                                               const std::vector<int>& labels) {
  using file_detail::put;
  const auto& parts = machine.parts();
  std::vector<char> file;
  put(file, file_detail::magic.data(), file_detail::magic.size());
  const std::array<std::uint32_t, 2> sizes{static_cast<std::uint32_t>(parts.inputs.rows()),
                                           static_cast<std::uint32_t>(parts.inputs.cols())};
  put(file, sizes.data(), sizes.size());
  put(file, &parts.slope, 1);
  const std::vector<std::uint8_t> small(labels.begin(), labels.end());
  put(file, small.data(), small.size());
  const bpm::RowMatrix<float> coefficients = parts.coefficients.cast<float>();
  put(file, coefficients.data(), static_cast<std::size_t>(coefficients.size()));
  put(file, parts.inputs.data(), static_cast<std::size_t>(parts.inputs.size()));
  put(file, pictures.data(), static_cast<std::size_t>(pictures.size()));
  return file;
}

/// Throws `std::runtime_error` where the bytes are no model.
[[nodiscard]] inline Model from_file(std::span<const char> file) {
  using file_detail::take;
  std::array<char, file_detail::magic.size()> mark{};
  take(file, mark.data(), mark.size());
  if (std::string_view(mark.data(), mark.size()) != file_detail::magic) {
    throw std::runtime_error("this is no model of the page");
  }
  std::array<std::uint32_t, 2> sizes{};
  take(file, sizes.data(), sizes.size());
  const std::size_t of_a_point = 1 + 10 * sizeof(float) + sizes[1] + pixels;
  if (file.size() != sizeof(double) + sizes[0] * of_a_point) {
    throw std::runtime_error("the page's model is cut short");
  }
  const auto support = static_cast<Eigen::Index>(sizes[0]);
  bpm::ClassifierParts<Kernel, Bytes> parts{.kernel = kernel(),
                                            .inputs = Bytes(support, sizes[1]),
                                            .support = {},
                                            .coefficients = {},
                                            .classes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
                                            .threads = 1};
  take(file, &parts.slope, 1);
  std::vector<std::uint8_t> labels(sizes[0]);
  take(file, labels.data(), labels.size());
  bpm::RowMatrix<float> coefficients(support, 10);
  take(file, coefficients.data(), static_cast<std::size_t>(coefficients.size()));
  parts.coefficients = coefficients.cast<double>();
  take(file, parts.inputs.data(), static_cast<std::size_t>(parts.inputs.size()));
  Bytes pictures(support, static_cast<Eigen::Index>(pixels));
  take(file, pictures.data(), static_cast<std::size_t>(pictures.size()));
  for (Eigen::Index i = 0; i < support; ++i) {
    parts.support.push_back(static_cast<bpm::PointIndex>(i));
  }
  return {Machine(std::move(parts)), std::move(pictures), {labels.begin(), labels.end()}};
}

/// A support point's part of the difference of the two largest outputs: those of all add up to it.
struct Voice {
  std::int32_t support = 0;
  float part = 0;
};

/// What the machine says of a digit.
struct Verdict {
  int label = 0;
  int second = 0;    ///< The class of the second largest output.
  double score = 0;  ///< The gap of the two largest outputs, by which digits are rejected.
  std::array<double, 10> probabilities{};
  std::vector<Voice> for_it{};      ///< Those that spoke loudest for the label and against the
  std::vector<Voice> against_it{};  ///< second, and the other way round; at most `voices` each.
};

[[nodiscard]] inline Verdict judge(const Model& model, const Bytes& features) {
  const auto& parts = model.machine.parts();
  const Eigen::MatrixXd values = model.machine.decision_values(features);
  const Eigen::MatrixXd probabilities = model.machine.probabilities(values);
  Verdict verdict;
  verdict.label = model.machine.labels_of(values)[0];
  verdict.second = verdict.label == 0 ? 1 : 0;
  for (int c = 0; c < 10; ++c) {
    verdict.probabilities[static_cast<std::size_t>(c)] = probabilities(0, c);
    if (c != verdict.label && values(0, c) > values(0, verdict.second)) verdict.second = c;
  }
  verdict.score = values(0, verdict.label) - values(0, verdict.second);
  std::vector<Voice> all(parts.support.size());
  model.machine.visit_values(
      features, "judge", [&](auto, auto, auto, const auto* kernels, const auto* self) {
        const double norm = std::sqrt(static_cast<double>(*self));
        for (std::size_t i = 0; i < all.size(); ++i) {
          const auto at = static_cast<Eigen::Index>(i);
          const double weight =
              parts.coefficients(at, verdict.label) - parts.coefficients(at, verdict.second);
          all[i] = {static_cast<std::int32_t>(i), static_cast<float>(weight * kernels[i] / norm)};
        }
      });
  const auto loudest = std::min(all.size(), voices);
  const auto last = all.begin() + static_cast<std::ptrdiff_t>(loudest);
  const auto take = [&](std::vector<Voice>& some, double sign) {
    std::ranges::partial_sort(
        all, last, [&](const Voice& a, const Voice& b) { return sign * a.part > sign * b.part; });
    std::copy_if(all.begin(), last, std::back_inserter(some),
                 [&](const Voice& voice) { return sign * voice.part > 0; });
  };
  take(verdict.for_it, 1);
  take(verdict.against_it, -1);
  return verdict;
}

}  // namespace digit_page
