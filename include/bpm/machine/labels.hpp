// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernel_values/gram.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/version_space/soft_boundary.hpp"

/// \file
/// The training set: labels and binary subproblems, hashes of the inputs, a first check that labels
/// can be separated; pairs of classes, and the outputs of classes by machines of pairs.

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Labels in any contiguous list: refers to an lvalue or a view, copies others.
class LabelList {
 public:
  template <class L>
    requires(!std::same_as<std::remove_cvref_t<L>, LabelList>)
  LabelList(L&& labels) {  // NOLINT: stands for a parameter of type span.
    static_assert(std::convertible_to<L, std::span<const int>>,
                  "labels are ints, one for each input, that lie one behind the other, such as "
                  "std::vector<int>: give each class a number, and an Eigen vector as a std::span");
    labels_ = labels;
    if constexpr (!std::is_lvalue_reference_v<L> && !std::ranges::borrowed_range<L>) {
      kept_ = std::make_shared<const std::vector<int>>(labels_.begin(), labels_.end());
      labels_ = *kept_;
    }
  }
  LabelList(const int* first, std::size_t count) : labels_(first, count) {}
  [[nodiscard]] std::span<const int> list() const noexcept { return labels_; }

 private:
  std::shared_ptr<const std::vector<int>> kept_;
  std::span<const int> labels_;
};

/// Returns the distinct labels, ascending.
[[nodiscard]] inline std::vector<int> distinct_labels(std::span<const int> labels) {
  const std::set<int> classes(labels.begin(), labels.end());
  return {classes.begin(), classes.end()};
}

/// Returns +1 where the label is `positive`, -1 elsewhere.
[[nodiscard]] inline std::vector<signed char> one_against_rest(std::span<const int> labels,
                                                               int positive) {
  std::vector<signed char> signs;
  for (const int label : labels) signs.push_back(label == positive ? 1 : -1);
  return signs;
}

/// Returns the labels of these points.
[[nodiscard]] inline std::vector<int> labels_at(std::span<const int> labels,
                                                std::span<const PointIndex> points) {
  std::vector<int> chosen;
  for (const PointIndex i : points) chosen.push_back(labels[std::size_t(i)]);
  return chosen;
}

/// Checks that there are as many labels as inputs, at least one, and two classes, or more if there
/// may be any number; returns the classes.
[[nodiscard]] inline std::vector<int> check_labels(std::ptrdiff_t inputs,
                                                   std::span<const int> labels,
                                                   std::string_view function,
                                                   bool any_number = true) {
  check(inputs > 0, function, "inputs", "is empty, expected one input or more of each class");
  check(inputs <= std::numeric_limits<std::int32_t>::max(), function, "inputs", "has ", inputs,
        " entries, must be fewer than 2^31");
  check_size(function, "labels", labels.size(), inputs, "one per input");
  std::vector<int> classes = distinct_labels(labels);
  check(classes.size() >= 2, function, "labels", "are all ", classes[0],
        ", expected two classes or more");
  check(any_number || classes.size() == 2, function, "labels", "have ", classes.size(),
        " classes, expected two; use OneVsRest for more");
  return classes;
}

/// Returns the number of binary subproblems, and of columns of coefficients, of so many classes.
[[nodiscard]] constexpr std::size_t subproblem_count(std::size_t classes) {
  return classes == 2 ? 1 : classes;
}

/// Binary subproblems of one training set, in the order in which a sampler receives them: for two
/// classes the second against the first, for more each against the rest.
struct Subproblems {
  std::vector<int> classes;                           ///< Class labels, ascending.
  std::vector<std::vector<signed char>> signs;        ///< +1 or -1, m per subproblem.
  std::shared_ptr<const std::vector<double>> lambda;  ///< Of all of them; empty: zero.

  Subproblems() = default;
  Subproblems(std::vector<int> all, std::span<const int> labels) : classes(std::move(all)) {
    for (std::size_t c = classes.size() == 2 ? 1 : 0; c < classes.size(); ++c) {
      signs.push_back(one_against_rest(labels, classes[c]));
    }
  }

  template <class T>
  void resolve_lambda(const Gram<T>& gram, const SoftBoundary& boundary,
                      std::span<const int> labels) {
    lambda = std::make_shared<const std::vector<double>>(
        boundary.resolve([&](std::ptrdiff_t i) { return gram.diagonal(i); }, labels, classes));
  }

  [[nodiscard]] std::size_t size() const noexcept { return signs.size(); }
  [[nodiscard]] double lambda_at(std::ptrdiff_t i) const {
    return lambda->empty() ? 0.0 : (*lambda)[std::size_t(i)];
  }
};

/// A hash of a sequence of words, four chains wide so that they overlap.
class WordHash {
 public:
  void add(std::uint64_t word) noexcept {
    std::uint64_t& chain = chains_[count_++ % chains_.size()];
    chain = (chain ^ word) * 0x9E3779B97F4A7C15ULL;
    chain ^= chain >> 29U;
  }
  void add(double number) noexcept { add(std::bit_cast<std::uint64_t>(number)); }

  /// Adds the bytes in the machine's order, the last word padded with zeros.
  void add_bytes(const void* data, std::size_t size) noexcept {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, std::min(size - at, sizeof word));
      add(word);
    }
  }

  [[nodiscard]] std::uint64_t value() const noexcept {
    std::uint64_t hash = count_;
    for (const std::uint64_t chain : chains_) {
      hash = (hash ^ chain) * 0xD1342543DE82EF95ULL;
      hash ^= hash >> 32U;
    }
    return hash;
  }

 private:
  std::array<std::uint64_t, 4> chains_{1, 2, 3, 4};
  std::uint64_t count_ = 0;
};

template <class I>
concept HashableInputs = !RangeInputs<I> || requires(const std::ranges::range_value_t<I>& x) {
  { std::hash<std::ranges::range_value_t<I>>{}(x) } -> std::convertible_to<std::size_t>;
  { x == x } -> std::convertible_to<bool>;
};

/// Returns a hash per input, equal for equal inputs; an empty list for types that cannot be hashed.
/// Cost: one pass over the inputs.
template <InputSet I>
[[nodiscard]] std::vector<std::uint64_t> input_hashes(const I& inputs) {
  std::vector<std::uint64_t> hashes;
  if constexpr (HashableInputs<I>) {
    hashes.resize(static_cast<std::size_t>(input_count(inputs)));
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const auto row = static_cast<std::ptrdiff_t>(i);
      WordHash hash;
      // Equal numbers have equal words: -0 counts as 0.
      [[maybe_unused]] const auto add_number = [&](double number) {
        hash.add(number == 0 ? 0.0 : number);
      };
      if constexpr (DenseInputs<I>) {
        for (Eigen::Index j = 0; j < inputs.cols(); ++j) {
          add_number(static_cast<double>(inputs(row, j)));
        }
      } else if constexpr (SparseInputs<I>) {
        for (typename I::InnerIterator entry(inputs, row); entry; ++entry) {
          if (entry.value() != 0) {
            hash.add(static_cast<std::uint64_t>(entry.col()));
            add_number(static_cast<double>(entry.value()));
          }
        }
      } else {
        const auto& input = std::ranges::begin(inputs)[row];
        hash.add(std::uint64_t{std::hash<std::remove_cvref_t<decltype(input)>>{}(input)});
      }
      hashes[i] = hash.value();
    }
  }
  return hashes;
}

template <InputSet I>
[[nodiscard]] bool equal_inputs(const I& inputs, std::ptrdiff_t i, std::ptrdiff_t j) {
  if constexpr (DenseInputs<I>) {
    return (inputs.row(i).array() == inputs.row(j).array()).all();
  } else if constexpr (SparseInputs<I>) {
    return (inputs.row(i) - inputs.row(j)).squaredNorm() == 0;
  } else if constexpr (HashableInputs<I>) {
    return std::ranges::begin(inputs)[i] == std::ranges::begin(inputs)[j];
  } else {
    return i == j;
  }
}

/// Returns the groups of two or more equal inputs, each ascending; none of a matrix of kernel
/// values. `hashes`: those of the inputs.
template <class Kernel = void, InputSet I>
[[nodiscard]] std::vector<std::vector<PointIndex>> equal_groups(
    const I& inputs, std::span<const std::uint64_t> hashes) {
  std::vector<std::vector<PointIndex>> groups;
  if constexpr (std::same_as<Kernel, PrecomputedKernel>) return groups;
  std::vector<PointIndex> order = first_points(std::ssize(hashes));
  const auto hash = [&](PointIndex i) { return hashes[static_cast<std::size_t>(i)]; };
  std::sort(order.begin(), order.end(), [&](PointIndex a, PointIndex b) {
    return std::pair(hash(a), a) < std::pair(hash(b), b);
  });
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    std::vector<PointIndex> group{order[begin]};
    for (end = begin + 1; end < order.size() && hash(order[end]) == hash(order[begin]); ++end) {
      if (equal_inputs(inputs, order[begin], order[end])) group.push_back(order[end]);
    }
    if (group.size() > 1) groups.push_back(std::move(group));
  }
  return groups;
}

/// Returns a hash of a training set, which detects another one.
[[nodiscard]] inline std::uint64_t fingerprint(std::span<const std::uint64_t> hashes,
                                               std::span<const int> labels) {
  WordHash hash;
  for (const std::uint64_t word : hashes) hash.add(word);
  for (const int label : labels) hash.add(static_cast<std::uint64_t>(label));
  return hash.value();
}

/// Returns a point to which no classifier gives a sign, since its k(x, x) + lambda is 0; -1: none.
/// Cost: O(m).
template <class T>
[[nodiscard]] std::ptrdiff_t point_without_sign(const Gram<T>& gram, const Subproblems& problems) {
  for (std::ptrdiff_t i = 0; i < gram.size(); ++i) {
    if (!(static_cast<double>(gram.diagonal(i)) + problems.lambda_at(i) > 0)) return i;
  }
  return -1;
}

/// Returns which point, or which two equal inputs, rule out every classifier; empty if none do.
/// `equal`: groups of equal inputs.
template <class T>
[[nodiscard]] std::string why_not_separable(const Gram<T>& gram,
                                            std::span<const std::vector<PointIndex>> equal,
                                            const Subproblems& problems) {
  if (const std::ptrdiff_t without = point_without_sign(gram, problems); without >= 0) {
    return join("point ", without,
                " has k(x, x) = 0, so no classifier gives it a sign; add a bias to the kernel or a "
                "soft boundary lambda > 0");
  }
  for (const auto& group : equal) {
    for (std::size_t p = 0; p < problems.size(); ++p) {
      PointIndex hard = -1;
      for (const PointIndex i : group) {
        if (problems.lambda_at(i) > 0) continue;
        if (hard >= 0 &&
            problems.signs[p][std::size_t(i)] != problems.signs[p][std::size_t(hard)]) {
          return join("points ", hard, " and ", i,
                      " are equal inputs with different labels, so no classifier separates them; "
                      "set a soft boundary lambda > 0, or label noise with KernelGibbs");
        }
        hard = i;
      }
    }
  }
  return {};
}

/// Returns the number of pairs of so many classes.
[[nodiscard]] constexpr std::size_t pair_count(std::size_t classes) {
  return classes * (classes - 1) / 2;
}

/// Calls visit(pair, first, second) for every pair of classes by their indices: (0, 1), (0, 2), (1,
/// 2), (0, 3), ...
template <class Visit>
void for_each_pair(std::size_t classes, Visit&& visit) {
  std::size_t pair = 0;
  for (std::size_t b = 1; b < classes; ++b) {
    for (std::size_t a = 0; a < b; ++a) visit(pair++, a, b);
  }
}

/// Returns the points of every pair of classes, ascending. Cost: (C - 1) m.
[[nodiscard]] BPM_INLINE std::vector<std::vector<PointIndex>> points_of_pairs(
    const std::vector<int>& classes, std::span<const int> labels);

/// Returns the output of each class: the mean of tanh(f) over its pairs, f positive for the class.
/// Outputs n x P, or n x (N P) of N draws, become n x C, or n x (N C).
[[nodiscard]] BPM_INLINE Eigen::MatrixXd outputs_of_classes(const Eigen::MatrixXd& of_pairs,
                                                            std::size_t classes);

#if BPM_BODIES

BPM_INLINE std::vector<std::vector<PointIndex>> points_of_pairs(const std::vector<int>& classes,
                                                                std::span<const int> labels) {
  std::vector<std::vector<PointIndex>> of_class(classes.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto found = std::lower_bound(classes.begin(), classes.end(), labels[i]);
    of_class[static_cast<std::size_t>(found - classes.begin())].push_back(
        static_cast<PointIndex>(i));
  }
  std::vector<std::vector<PointIndex>> pairs(pair_count(classes.size()));
  for_each_pair(classes.size(), [&](std::size_t pair, std::size_t a, std::size_t b) {
    std::merge(of_class[a].begin(), of_class[a].end(), of_class[b].begin(), of_class[b].end(),
               std::back_inserter(pairs[pair]));
  });
  return pairs;
}

BPM_INLINE Eigen::MatrixXd outputs_of_classes(const Eigen::MatrixXd& of_pairs,
                                              std::size_t classes) {
  const auto pairs = static_cast<Eigen::Index>(pair_count(classes));
  const auto columns = static_cast<Eigen::Index>(classes);
  Eigen::MatrixXd result =
      Eigen::MatrixXd::Zero(of_pairs.rows(), of_pairs.cols() / pairs * columns);
  for (Eigen::Index n = 0; n < of_pairs.cols() / pairs; ++n) {
    for_each_pair(classes, [&](std::size_t pair, std::size_t a, std::size_t b) {
      // One by one: an input's values are the same bits in a batch of any size.
      for (Eigen::Index i = 0; i < of_pairs.rows(); ++i) {
        const double says = std::tanh(of_pairs(i, n * pairs + static_cast<Eigen::Index>(pair))) /
                            static_cast<double>(classes - 1);
        result(i, n * columns + static_cast<Eigen::Index>(b)) += says;
        result(i, n * columns + static_cast<Eigen::Index>(a)) -= says;
      }
    });
  }
  return result;
}

#endif

}}}  // namespace bpm::detail
