// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

#include "json_file.hpp"

/// \file
/// Whether the chains of a run found their centres, in one way for all programs.

namespace bpm_examples {

/// A chain that ends with a larger standard error, rad, has not found the centre of its version
/// space: what is reported of it is of some point inside, and depends on the seed.
inline constexpr double largest_standard_error = 0.2;

/// Collects what the chains of several runs say of their centres.
class ChainCheck {
 public:
  /// `standard_error` as `bpm::ChainReport` has it; infinite: the run was too short to tell.
  void add(double standard_error) {
    ++runs_;
    missed_ += standard_error <= largest_standard_error ? 0U : 1U;
    largest_ = std::max(largest_, standard_error);
  }

  void add(const ChainCheck& other) {
    runs_ += other.runs_;
    missed_ += other.missed_;
    largest_ = std::max(largest_, other.largest_);
  }

  /// Empty where every centre was found.
  [[nodiscard]] std::string warning() const {
    std::ostringstream text;
    if (missed_ > 0) {
      text << std::setprecision(2) << "chains have not found their centres in " << missed_ << " of "
           << runs_ << " runs: standard errors up to " << largest_ << " rad, above "
           << largest_standard_error << "; give them more steps";
    }
    return text.str();
  }

  /// The value of the key `warnings`: a list of sentences, empty where all is well.
  [[nodiscard]] Json warnings() const {
    return missed_ > 0 ? Json::array({warning()}) : Json::array();
  }

  /// One line on standard error, and one in the report on the screen unless that is empty.
  void print(const char* program, std::ostream* report) const {
    if (missed_ == 0) return;
    const std::string line = "warning: " + warning() + '\n';
    std::cerr << program << ": " << line << std::flush;
    if (report != nullptr) *report << '\n' << line << std::flush;
  }

 private:
  std::size_t runs_ = 0;
  std::size_t missed_ = 0;
  double largest_ = 0;
};

}  // namespace bpm_examples
