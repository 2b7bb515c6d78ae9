// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

namespace test_support {

/// What the call throws, as text.
template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace test_support
