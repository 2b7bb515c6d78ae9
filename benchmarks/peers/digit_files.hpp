// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "bpm/data/source.hpp"
#include "common/mnist_data.hpp"
#include "common/output_file.hpp"

/// \file
/// The digits in the text format of LIBSVM, which all peers read.

namespace bpm_peers {

/// One line a digit, "label index:value ...", indices from 1, zeros left out; every input scaled to
/// norm 1, nine digits a value. \throws bpm_examples::OutputError where the disk is full.
inline void write_unit_norm(const bpm::LabelledData<bpm::RowMatrix<std::uint8_t>>& digits,
                            const std::filesystem::path& path) {
  std::ofstream file(path, std::ios::binary);
  std::string line;
  std::array<char, 64> number{};
  const auto append = [&](auto... value) {
    const auto end = std::to_chars(number.data(), number.data() + number.size(), value...).ptr;
    line.append(number.data(), end);
  };
  for (Eigen::Index i = 0; i < digits.inputs.rows(); ++i) {
    const auto square = digits.inputs.row(i).cast<std::int64_t>().squaredNorm();
    const double norm = std::sqrt(static_cast<double>(square));
    line.clear();
    append(digits.labels[static_cast<std::size_t>(i)]);
    for (Eigen::Index j = 0; j < digits.inputs.cols(); ++j) {
      const int pixel = digits.inputs(i, j);
      if (pixel == 0) continue;
      line += ' ';
      append(j + 1);
      line += ':';
      append(pixel / norm, std::chars_format::general, 9);
    }
    line += '\n';
    file << line;
  }
  if (!file.flush()) {
    throw bpm_examples::OutputError("cannot write '" + path.string() + "': is the disk full?");
  }
}

/// The share of labels in the file, one per line, that differ from `labels`, in percent.
/// \throws std::runtime_error unless the file has as many labels.
[[nodiscard]] inline double error_percent(const std::filesystem::path& predictions,
                                          std::span<const int> labels) {
  std::ifstream file(predictions);
  std::size_t count = 0;
  std::size_t wrong = 0;
  for (double label = 0; file >> label; ++count) {
    wrong += count < labels.size() && label != labels[count] ? 1U : 0U;
  }
  if (count != labels.size() || !file.eof()) {
    throw std::runtime_error("its file of predictions holds " + std::to_string(count) +
                             " labels, expected " + std::to_string(labels.size()));
  }
  return 100 * static_cast<double>(wrong) / static_cast<double>(labels.size());
}

}  // namespace bpm_peers
