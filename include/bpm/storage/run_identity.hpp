// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/prepared_inputs.hpp"
#include "bpm/machine/labels.hpp"
#include "bpm/samplers/sampler.hpp"
#include "bpm/version_space/version_space.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Identifies the draws of a run by a text, one line "name: value" per part, so that a message can
/// name the part in which two runs differ. The value of large data is a 64-bit hash: a difference
/// goes unnoticed once in 10^19 times; it does not resist deliberate collisions. Settings of
/// samplers add themselves by `visit_members`.
class RunIdentity {
 public:
  RunIdentity() = default;
  explicit RunIdentity(std::string text) : text_(std::move(text)) {}

  template <class Value, class... Bounds>
  void operator()(std::string_view name, const Value& value, const Bounds&... /*bounds*/) {
    text_.append(name).append(": ").append(text_of(value)).append("\n");
  }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// Returns names and values in order, as views of this text.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> parts() const {
    std::vector<std::pair<std::string_view, std::string_view>> all;
    for (std::string_view rest = text_; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      const std::size_t colon = std::min(line.find(": "), line.size());
      all.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 2, line.size())));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    return all;
  }

  /// Returns the first part in which another run differs, in words; empty if none does.
  [[nodiscard]] std::string difference(const RunIdentity& other) const {
    if (other.text_ == text_) return {};
    const auto mine = parts();
    const auto theirs = other.parts();
    for (std::size_t p = 0; p < mine.size(); ++p) {
      const auto& [name, value] = mine[p];
      if (p < theirs.size() && theirs[p] == mine[p]) continue;
      const bool shown = p < theirs.size() && theirs[p].first == name && !value.starts_with('#');
      return std::string(name) + (shown ? " (" + std::string(theirs[p].second) + " there, " +
                                              std::string(value) + " here)"
                                        : "");
    }
    return "settings";
  }

 private:
  template <class Value>
  [[nodiscard]] static std::string text_of(const Value& value) {
    if constexpr (std::same_as<Value, WordHash>) {
      return "#" + std::to_string(value.value());
    } else if constexpr (std::same_as<Value, bool>) {
      return value ? "true" : "false";
    } else if constexpr (std::is_enum_v<Value>) {
      return std::to_string(static_cast<int>(value));
    } else if constexpr (std::integral<Value>) {
      return std::to_string(value);
    } else if constexpr (std::floating_point<Value>) {
      std::array<char, 32> digits{};  // The shortest digits that identify the number.
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
      const std::string text(digits.data(), end);
      return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
    } else if constexpr (std::convertible_to<const Value&, std::string_view>) {
      return std::string("\"").append(std::string_view(value)).append("\"");
    } else if constexpr (requires { value.has_value(); }) {
      return value ? text_of(*value) : "none";
    } else {
      WordHash hash;
      const auto add = [&](const std::string& text) {
        hash.add(std::uint64_t{text.size()});
        hash.add_bytes(text.data(), text.size());
      };
      if constexpr (HasMembers<Value>) {
        RunIdentity parts;
        Value::visit_members(value, parts);
        add(parts.text_);
      } else {
        for (const auto& one : value) add(text_of(one));
      }
      return text_of(hash);
    }
  }

  std::string text_;
};

/// Returns a hash of kernel and inputs by their kernel values: the diagonal, the values of each
/// point with the others of its group of 16, and those of all points with four. It does not depend
/// on how the values are stored.
template <VersionSpace Space>
[[nodiscard]] WordHash hash_of_kernel(const Space& space,
                                      BlockScratch<typename Space::Scalar>& scratch) {
  constexpr std::ptrdiff_t probes = 4;
  constexpr std::ptrdiff_t group = 16;
  constexpr std::ptrdiff_t most = probes + group;
  WordHash hash;
  std::array<typename Space::Scalar, most * group> values{};
  std::vector<PointIndex> points;
  std::vector<PointIndex> rows;
  for (std::ptrdiff_t begin = 0; begin < space.size(); begin += group) {
    const std::ptrdiff_t count = std::min(group, space.size() - begin);
    points.clear();
    for (std::ptrdiff_t i = begin; i < begin + count; ++i) {
      points.push_back(static_cast<PointIndex>(i));
      hash.add(space.diagonal(i));
    }
    rows = points;
    for (std::ptrdiff_t a = 0; a < probes; ++a) {
      rows.push_back(static_cast<PointIndex>(a * space.size() / probes));
    }
    space.block(rows, points, values.data(), count, scratch);
    hash.add_bytes(values.data(), rows.size() * points.size() * sizeof(values[0]));
  }
  return hash;
}

/// Adds all that the draws of `sampler` on these problems with this seed depend on, except their
/// number and limits, which change no finished draw; the first `left_out_draws` draws hold points
/// out. `kernel` is the name of the part for kernel values. Cost: a pass over the labels, and 20 m
/// kernel values, counted in `scratch`.
template <class Sampler, VersionSpace Space>
void add_run(RunIdentity& identity, const Sampler& sampler, std::span<const Space> spaces,
             std::uint64_t seed, BlockScratch<typename Space::Scalar>& scratch,
             std::uint64_t left_out_draws = 0, std::string_view kernel = "inputs or kernel") {
  WordHash format;
  constexpr std::array<unsigned char, 8> order{1, 2, 3, 4, 5, 6, 7, 8};
  format.add_bytes(order.data(), order.size());
  format.add(std::uint64_t{sizeof(typename Space::Scalar)});
  WordHash labels;
  WordHash lambda;
  for (const Space& space : spaces) {
    for (std::ptrdiff_t i = 0; i < space.size(); ++i) {
      labels.add(static_cast<std::uint64_t>(space.label(i)));
      lambda.add(static_cast<double>(space.lambda(i)));
    }
  }
  identity("byte order or format", format);
  identity("number of points", spaces[0].size());
  identity("number of problems", spaces.size());
  identity("labels", labels);
  identity("soft boundary", lambda);
  identity(kernel, hash_of_kernel(spaces[0], scratch));
  identity("seed", seed);
  identity("number of draws that leave points out", left_out_draws);
  if constexpr (Sampler::traits.sees == SamplerTraits::Sees::cone) {
    identity("sampler", sampler.plan().name);
  } else {
    identity("sampler", Sampler::traits.name);
  }
  Sampler::visit_members(sampler, identity);
}

}}}  // namespace bpm::detail
