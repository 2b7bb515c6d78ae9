// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

namespace bpm_examples {

/// Operations a second of large matrix products in float on so many threads: Eigen's, the best of
/// several, one product a thread. Takes about a second.
[[nodiscard]] double float_product_rate(int threads);

/// The same for unsigned times signed bytes, one product on all threads, by oneDNN; absent in a
/// program built without it.
[[nodiscard]] std::optional<double> byte_product_rate(int threads);

}  // namespace bpm_examples
