// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bpm_examples {

/// One dual coefficient of a model.
struct Coefficient {
  std::int64_t label = 0;  ///< The class.
  std::int64_t index = 0;  ///< The training input.
  double value = 0;
};

/// SHA-256 of a run of bytes, in lower-case hexadecimal; empty where the programs were built
/// without OpenSSL.
[[nodiscard]] std::string sha256_hex(std::span<const unsigned char> bytes);

/// What a report shows: the digest, or why there is none.
[[nodiscard]] inline std::string digest_text(const std::string& digest) {
  return digest.empty() ? "none: built without OpenSSL (Debian and Ubuntu: libssl-dev)" : digest;
}

/// A fingerprint of a model, empty without OpenSSL: two models have the same one exactly when all
/// coefficients are the same bit for bit.
///
/// SHA-256, in hexadecimal, over 24 bytes a coefficient, sorted by (class, index): the class and
/// the index as little-endian two's complement 64-bit integers, then the IEEE 754 binary64 bits of
/// the value as a little-endian 64-bit integer. Coefficients that are zero are left out, so that a
/// sparse model and the same model with its zeros agree.
/// Throws `std::invalid_argument` if a (class, index) pair comes twice.
[[nodiscard]] inline std::string model_digest(std::vector<Coefficient> coefficients) {
  std::erase_if(coefficients, [](const Coefficient& c) { return c.value == 0; });
  const auto key = [](const Coefficient& c) { return std::tuple(c.label, c.index); };
  std::sort(coefficients.begin(), coefficients.end(),
            [&](const Coefficient& a, const Coefficient& b) { return key(a) < key(b); });
  std::vector<unsigned char> bytes;
  bytes.reserve(24 * coefficients.size());
  const auto append = [&bytes](std::uint64_t word) {
    for (unsigned int shift = 0; shift < 64; shift += 8) {
      bytes.push_back(static_cast<unsigned char>(word >> shift & 0xffU));
    }
  };
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    const Coefficient& c = coefficients[i];
    if (i > 0 && key(coefficients[i - 1]) == key(c)) {
      throw std::invalid_argument("model_digest: class " + std::to_string(c.label) + ", index " +
                                  std::to_string(c.index) + " comes twice");
    }
    append(static_cast<std::uint64_t>(c.label));
    append(static_cast<std::uint64_t>(c.index));
    append(std::bit_cast<std::uint64_t>(c.value));
  }
  return sha256_hex(bytes);
}

/// That of a classifier.
template <class Classifier>
[[nodiscard]] std::string digest_of(const Classifier& classifier) {
  std::vector<Coefficient> coefficients;
  for (std::size_t s = 0; s < classifier.support().size(); ++s) {
    for (Eigen::Index c = 0; c < classifier.columns(); ++c) {
      // Of two classes the one column is the second's.
      const Eigen::Index column_class = classifier.columns() == 1 ? 1 : c;
      coefficients.push_back({classifier.classes()[column_class], classifier.support()[s],
                              classifier.coefficients()(static_cast<Eigen::Index>(s), c)});
    }
  }
  return model_digest(std::move(coefficients));
}

}  // namespace bpm_examples
