// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "bpm/storage/stored_parts.hpp"

namespace test_support {

/// A kernel of a user's own that can be stored: common letters, place by place.
struct Places {
  double scale = 1;
  double operator()(const std::string& a, const std::string& b) const {
    double same = 1;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) same += a[i] == b[i] ? 1 : 0;
    return scale * same;
  }
};

}  // namespace test_support

/// The name stands in tests/data/models/format_1.
template <>
struct bpm::StoredKernel<test_support::Places> {
  static constexpr std::string_view name = "places";
  static nlohmann::json parameters(const test_support::Places& k) { return {{"scale", k.scale}}; }
  static test_support::Places make(const nlohmann::json& p) {
    return {p.at("scale").get<double>()};
  }
};
