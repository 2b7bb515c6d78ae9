// SPDX-License-Identifier: MIT
#pragma once

#include <sstream>
#include <stdexcept>

namespace bpm_examples {

/// Throws `std::invalid_argument` unless `holds`; the parts, printed one after the other, are its
/// message.
template <class... Parts>
void check(bool holds, const Parts&... parts) {
  if (holds) return;
  std::ostringstream message;
  (message << ... << parts);
  throw std::invalid_argument(message.str());
}

}  // namespace bpm_examples
