// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/target.hpp"
#include "bpm/images/image_shape.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Identifies a copy: seed, example and number of the copy, which alone decide how it differs from
/// the original. Copy 0 is the original.
struct CopyKey {
  std::uint64_t seed = 1;     ///< Seed of all copies of a training set; any value.
  std::uint64_t example = 0;  ///< Row of the example in the training set.
  std::uint64_t copy = 0;     ///< Number of the copy; 0 is the original.

  /// Returns random word `place` of this copy: 64 bits, independent in practice of those of other
  /// places, copies, examples and seeds, and the same with every compiler. A transform draws all
  /// random numbers from these words, in any order, or seeds a `RandomEngine` with one.
  [[nodiscard]] constexpr std::uint64_t word(std::uint64_t place) const noexcept {
    // Each of the three has its own step, so that no two of them are interchangeable.
    const std::uint64_t start = detail::mixed_word(seed + detail::golden_step);
    const std::uint64_t base =
        detail::mixed_word(detail::mixed_word(start ^ (example * 0xD1342543DE82EF95ULL)) ^
                           (copy * 0xAEF17502108EF2D9ULL));
    return detail::mixed_word(base + place * detail::golden_step);
  }
};

/// Copies shifted by whole pixels, the nearest first: copies 1 to 4 are one pixel off to the right,
/// left, bottom and top, 5 to 8 on the diagonals, 9 to 24 in the rest of the square of two pixels
/// about the original. Pixels from outside are 0. Shifts are not random: the seed does not matter.
/// Source: D. DeCoste, B. Schoelkopf, "Training invariant support vector machines", Machine
/// Learning 46, 2002.
struct Shifts {
  /// Shifts an image, as a transform of `VirtualExamples`, which checks the sizes.
  /// \throws std::invalid_argument on a copy above 24.
  void operator()(ImageShape shape, std::span<const std::uint8_t> image, const CopyKey& key,
                  std::span<std::uint8_t> out) const {
    detail::check(key.copy < offsets.size(), "Shifts", "copy", "is ", key.copy,
                  ", there are those from 0 to ", offsets.size() - 1);
    const auto [down, right] = offsets[key.copy];
    const auto columns = shape.columns;
    const auto begin = std::clamp<Eigen::Index>(right, 0, columns);
    const auto end = std::clamp<Eigen::Index>(columns + right, 0, columns);
    std::fill(out.begin(), out.end(), std::uint8_t{0});
    for (Eigen::Index y = 0; y < shape.rows; ++y) {
      const Eigen::Index from = y - down;
      if (from >= 0 && from < shape.rows && begin < end) {
        std::copy_n(image.data() + from * columns + begin - right, end - begin,
                    out.data() + y * columns + begin);
      }
    }
  }

 private:
  struct Offset {
    int down;
    int right;
  };
  static constexpr std::array<Offset, 25> offsets{
      {{0, 0},  {0, 1},  {0, -1},  {1, 0},  {-1, 0}, {1, 1},  {1, -1}, {-1, 1},  {-1, -1},
       {0, 2},  {0, -2}, {2, 0},   {-2, 0}, {1, 2},  {1, -2}, {-1, 2}, {-1, -2}, {2, 1},
       {2, -1}, {-2, 1}, {-2, -1}, {2, 2},  {2, -2}, {-2, 2}, {-2, -2}}};
};

/// A copy of an example of a training set; copy 0 is the original.
struct CopyOf {
  Eigen::Index example = 0;  ///< Row of the example in the training set.
  std::uint64_t copy = 0;    ///< Number of the copy.
};

namespace detail {

/// List of copies: entry (c - first) examples + i is copy c of example i.
struct AllCopies {
  Eigen::Index examples = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 1;

  [[nodiscard]] std::size_t size() const {
    return (last - first) * static_cast<std::size_t>(examples);
  }
  [[nodiscard]] CopyOf operator[](std::size_t entry) const {
    const auto count = static_cast<std::size_t>(examples);
    return {static_cast<Eigen::Index>(entry % count), first + entry / count};
  }
};

template <class T>
concept CopyList = requires(const T& copies, std::size_t entry) {
  { copies[entry] } -> std::convertible_to<CopyOf>;
  { copies.size() } -> std::convertible_to<std::size_t>;
};

template <class T>
concept ImageTransform = std::copy_constructible<T> &&
                         std::invocable<const T&, ImageShape, std::span<const std::uint8_t>,
                                        const CopyKey&, std::span<std::uint8_t>>;

/// Returns the transform, or for parameters their `prepared()` transform, made once.
[[nodiscard]] auto prepared_transform(const auto& transform) {
  if constexpr (requires { transform.prepared(); }) {
    return transform.prepared();
  } else {
    return transform;
  }
}

}  // namespace detail

/// Virtual examples: a training set of one-channel byte images, and copies of each that differ from
/// it without a change of class (B. Schoelkopf, C. Burges, V. Vapnik, "Incorporating invariances in
/// support vector learning machines", 1996). A view: it stores no image, and makes each copy on
/// request. Copy c of example i depends on the seed, i and c alone, neither on threads nor on other
/// requests; copy 0 is the original.
template <detail::ImageTransform Transform>
class VirtualExamples {
 public:
  /// `images`: one per row, of shape.size() bytes, in row-major memory (a `RowMatrix` or rows of
  /// one), which must outlive the view. `transform`: `Shifts`, a `Deformation`, or a callable
  ///
  ///     void(ImageShape shape, std::span<const std::uint8_t> image, const CopyKey& key,
  ///          std::span<std::uint8_t> copy)
  ///
  /// that fills `copy`, depends on its arguments alone, and may be called by several threads at
  /// once.
  ///
  /// \throws std::invalid_argument unless sides are 1 to 4096 and the images have the shape; and
  /// the errors of the transform's parameters.
  template <class Images, class Parameters>
    requires(bool(Images::IsRowMajor) && std::same_as<typename Images::Scalar, std::uint8_t>)
  VirtualExamples(ImageShape shape, const Images& images, const Parameters& transform,
                  std::uint64_t seed = 1)
      : shape_(shape),
        images_(images.data()),
        examples_(images.rows()),
        step_(images.outerStride()),
        transform_(detail::prepared_transform(transform)),
        seed_(seed) {
    detail::check_shape("VirtualExamples", shape);
    detail::check_images("VirtualExamples", images, shape);
  }
  /// Deleted: a temporary matrix would be gone after the statement.
  template <class Images, class Parameters>
    requires std::derived_from<Images, Eigen::PlainObjectBase<Images>>
  VirtualExamples(ImageShape, const Images&&, const Parameters&, std::uint64_t = 1) = delete;

  [[nodiscard]] ImageShape shape() const { return shape_; }  ///< Shape of originals and copies.
  /// Number of originals, one per row of the images.
  [[nodiscard]] Eigen::Index examples() const { return examples_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }  ///< Seed of all copies.

  /// Returns the list of copies [first, last) of all examples, for `fill`, copy by copy: all
  /// examples of copy `first`, then all of the next, so that their labels are the labels repeated.
  /// \throws std::invalid_argument unless first <= last.
  [[nodiscard]] detail::AllCopies all(std::uint64_t first, std::uint64_t last) const {
    detail::check(first <= last, "VirtualExamples::all", "first", "is ", first,
                  ", must not be above last, which is ", last);
    return {examples_, first, last};
  }

  /// Writes a copy to `out`, of shape().size() bytes. \throws std::invalid_argument on an unknown
  /// example or another size of `out`, and the transform's errors.
  void copy(CopyOf which, std::span<std::uint8_t> out) const {
    detail::check_size("VirtualExamples::copy", "out", out.size(), shape_.size(), "one per pixel");
    make("VirtualExamples::copy", which, out);
  }

  /// Writes copy copies[r] of a list to row r of `out`: `all`, a vector or span of `CopyOf`, or any
  /// type with `size()` and `[]` that returns the same entry on every thread. Uses up to `threads`
  /// threads (0: as many as there are; at most 4096). \throws std::invalid_argument as `copy`, on
  /// more threads, and unless `out` has one row per copy.
  void fill(const detail::CopyList auto& copies, Eigen::Ref<RowMatrix<std::uint8_t>> out,
            unsigned threads = 0) const {
    constexpr const char* function = "VirtualExamples::fill";
    detail::check(out.cols() == shape_.size(), function, "out", "has ", out.cols(),
                  " columns, expected ", shape_.size(), " (one per pixel)");
    const unsigned workers = detail::image_workers(threads, out.rows(), function);
    fill_rows(copies, out, workers, [&](unsigned, CopyOf which, std::span<std::uint8_t> row) {
      make(function, which, row);
    });
  }

  /// Writes the `features` of copy copies[r] to row r of `out`: a callable of the copy's bytes and
  /// the row's, std::span<const std::uint8_t> and std::span<std::uint8_t>. Each thread calls its
  /// own copy of `features`, which may keep memory between calls, and stores one image. Errors as
  /// above.
  template <std::copy_constructible Features>
    requires std::invocable<Features&, std::span<const std::uint8_t>, std::span<std::uint8_t>>
  void fill(const detail::CopyList auto& copies, const Features& features,
            Eigen::Ref<RowMatrix<std::uint8_t>> out, unsigned threads = 0) const {
    constexpr const char* function = "VirtualExamples::fill";
    const unsigned workers = detail::image_workers(threads, out.rows(), function);
    struct Worker {
      Features features;
      std::vector<std::uint8_t> image;
    };
    const std::vector<std::uint8_t> image(static_cast<std::size_t>(shape_.size()));
    std::vector<Worker> own(workers, Worker{features, image});
    fill_rows(copies, out, workers,
              [&](unsigned worker, CopyOf which, std::span<std::uint8_t> row) {
                make(function, which, own[worker].image);
                own[worker].features(std::span<const std::uint8_t>(own[worker].image), row);
              });
  }

 private:
  void make(const char* function, CopyOf which, std::span<std::uint8_t> out) const {
    detail::check(which.example >= 0 && which.example < examples_, function, "example", "is ",
                  which.example, ", there are ", examples_);
    const std::span<const std::uint8_t> image(images_ + which.example * step_,
                                              static_cast<std::size_t>(shape_.size()));
    if (which.copy == 0) {
      std::copy(image.begin(), image.end(), out.begin());
    } else {
      transform_(shape_, image,
                 CopyKey{seed_, static_cast<std::uint64_t>(which.example), which.copy}, out);
    }
  }

  /// Calls make_row(worker, copies[r], the bytes of row r) for every row.
  template <class MakeRow>
  static void fill_rows(const detail::CopyList auto& copies,
                        Eigen::Ref<RowMatrix<std::uint8_t>>& out, unsigned workers,
                        const MakeRow& make_row) {
    detail::check(static_cast<std::size_t>(out.rows()) == copies.size(), "VirtualExamples::fill",
                  "out", "has ", out.rows(), " rows, expected ", copies.size(), " (one per copy)");
    detail::for_each_image(workers, out.rows(), [&](unsigned worker, Eigen::Index row) {
      make_row(worker, copies[static_cast<std::size_t>(row)],
               std::span<std::uint8_t>(out.data() + row * out.outerStride(),
                                       static_cast<std::size_t>(out.cols())));
    });
  }

  ImageShape shape_;
  const std::uint8_t* images_;
  Eigen::Index examples_;
  Eigen::Index step_;
  Transform transform_;
  std::uint64_t seed_;
};

/// Deduces the prepared transform of a `Deformation`, or a copy of any other transform.
template <class Images, class Parameters>
VirtualExamples(ImageShape, const Images&, const Parameters&, std::uint64_t = 1)
    -> VirtualExamples<decltype(detail::prepared_transform(std::declval<const Parameters&>()))>;

}}  // namespace bpm
