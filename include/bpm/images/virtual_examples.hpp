// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "bpm/core/check.hpp"
#include "bpm/core/parallel.hpp"
#include "bpm/core/points.hpp"
#include "bpm/images/copy_key.hpp"
#include "bpm/images/image_shape.hpp"

namespace bpm {

/// A copy of an example of a training set; copy 0 is the original.
struct CopyOf {
  Eigen::Index example = 0;
  std::uint64_t copy = 0;
};

/// What makes a copy of an image: a const callable of shape, image, key and the bytes to fill,
/// which several threads may call at once. What it makes must depend on these alone.
template <class T>
concept ImageTransform = std::copy_constructible<T> &&
                         std::invocable<const T&, ImageShape, std::span<const std::uint8_t>,
                                        const CopyKey&, std::span<std::uint8_t>>;

namespace detail {

/// Transforms may be given by parameters from which what works is prepared once.
[[nodiscard]] auto prepared_transform(const auto& transform) {
  if constexpr (requires { transform.prepared(); }) {
    return transform.prepared();
  } else {
    return transform;
  }
}

}  // namespace detail

/// Virtual examples: a training set of one-channel byte images, and copies of each that differ from
/// it by what does not change its class (B. Schoelkopf, C. Burges, V. Vapnik, "Incorporating
/// invariances in support vector learning machines", 1996). A view: it holds no image, and makes a
/// copy whenever it is asked for. Copy c of example i depends on the seed, i and c alone, neither
/// on threads nor on what else was asked for; copy 0 is the original.
template <ImageTransform Transform>
class VirtualExamples {
 public:
  /// `images`: one a row, of shape.size() bytes, in row-major memory (a `RowMatrix` or rows of
  /// one), which must stay where it is. `transform`: `Shifts`, `Deformation`, or a callable of
  /// (ImageShape, std::span<const std::uint8_t> image, const CopyKey&, std::span<std::uint8_t>
  /// out). \throws std::invalid_argument on a shape that is empty, of a side above 4096, or not
  /// that of the images, and what the transform's parameters throw.
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
    for (const Eigen::Index side : {shape.rows, shape.columns}) {
      detail::check(side > 0 && side <= 4096, "VirtualExamples", "shape", "is ", shape.rows, " x ",
                    shape.columns, ", its sides must be from 1 to 4096");
    }
    detail::check(images.cols() == shape.size(), "VirtualExamples", "images", "has ", images.cols(),
                  " columns, expected ", shape.size(), " (", shape.rows, " x ", shape.columns, ")");
  }
  /// A matrix that is gone at the end of the line.
  template <class Images, class Parameters>
    requires std::derived_from<Images, Eigen::PlainObjectBase<Images>>
  VirtualExamples(ImageShape, const Images&&, const Parameters&, std::uint64_t = 1) = delete;

  [[nodiscard]] ImageShape shape() const { return shape_; }
  [[nodiscard]] Eigen::Index examples() const { return examples_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  /// Fills `out`, of shape().size() bytes, with a copy. \throws std::invalid_argument on an example
  /// that is not there and another size of `out`.
  void copy(CopyOf which, std::span<std::uint8_t> out) const {
    check_example(which);
    detail::check_size("VirtualExamples::copy", "out", out.size(), shape_.size(),
                       "a pixel of the image each");
    make(which, out);
  }

  /// Row r of `out` becomes copy copies[r], on up to `threads` threads (0: as many as there are).
  /// \throws std::invalid_argument on examples that are not there, other sizes of `out`.
  void fill(std::span<const CopyOf> copies, Eigen::Ref<RowMatrix<std::uint8_t>> out,
            unsigned threads = 0) const {
    fill_rows(list_of(copies), std::ssize(copies), nullptr, out, threads);
  }

  /// Row r of `out` becomes what `features` makes of copy copies[r]: a callable of its bytes and
  /// those of the row, std::span<const std::uint8_t> and std::span<std::uint8_t>. Each thread calls
  /// a copy of `features` of its own, which may keep memory between the calls. No image is kept.
  template <std::copy_constructible Features>
  void fill(std::span<const CopyOf> copies, const Features& features,
            Eigen::Ref<RowMatrix<std::uint8_t>> out, unsigned threads = 0) const {
    fill_rows(list_of(copies), std::ssize(copies), features, out, threads);
  }

  /// Likewise with copies [first, last) of all examples: row (c - first) examples() + i of `out` is
  /// copy c of example i. Blocks of rows stand below each other in the order of the examples, so
  /// that their labels are the labels, again and again.
  void fill(std::uint64_t first, std::uint64_t last, Eigen::Ref<RowMatrix<std::uint8_t>> out,
            unsigned threads = 0) const {
    fill_rows(all_of(first), count_of(first, last), nullptr, out, threads);
  }
  template <std::copy_constructible Features>
    requires(!std::integral<Features>)
  void fill(std::uint64_t first, std::uint64_t last, const Features& features,
            Eigen::Ref<RowMatrix<std::uint8_t>> out, unsigned threads = 0) const {
    fill_rows(all_of(first), count_of(first, last), features, out, threads);
  }

 private:
  void check_example(CopyOf which) const {
    detail::check(which.example >= 0 && which.example < examples_, "VirtualExamples", "example",
                  "is ", which.example, ", there are ", examples_);
  }

  void make(CopyOf which, std::span<std::uint8_t> out) const {
    const std::span<const std::uint8_t> image(images_ + which.example * step_,
                                              static_cast<std::size_t>(shape_.size()));
    if (which.copy == 0) {
      std::copy(image.begin(), image.end(), out.begin());
    } else {
      transform_(shape_, image,
                 CopyKey{seed_, static_cast<std::uint64_t>(which.example), which.copy}, out);
    }
  }

  [[nodiscard]] auto list_of(std::span<const CopyOf> copies) const {
    for (const CopyOf which : copies) check_example(which);
    return [copies](Eigen::Index row) { return copies[static_cast<std::size_t>(row)]; };
  }
  [[nodiscard]] auto all_of(std::uint64_t first) const {
    return [first, examples = examples_](Eigen::Index row) {
      return CopyOf{row % examples, first + static_cast<std::uint64_t>(row / examples)};
    };
  }
  [[nodiscard]] Eigen::Index count_of(std::uint64_t first, std::uint64_t last) const {
    detail::check(first <= last, "VirtualExamples::fill", "first", "is ", first,
                  ", must not be above last, which is ", last);
    return static_cast<Eigen::Index>(last - first) * examples_;
  }

  template <class Which, class Features>
  void fill_rows(const Which& which, Eigen::Index count, const Features& features,
                 Eigen::Ref<RowMatrix<std::uint8_t>> out, unsigned wanted) const {
    constexpr bool keeps_images = std::same_as<Features, std::nullptr_t>;
    detail::check(out.rows() == count, "VirtualExamples::fill", "out", "has ", out.rows(),
                  " rows, expected ", count, " (one per copy)");
    detail::check(!keeps_images || out.cols() == shape_.size(), "VirtualExamples::fill", "out",
                  "has ", out.cols(), " columns, expected ", shape_.size(), " (one per pixel)");
    constexpr Eigen::Index piece = 64;
    const Eigen::Index pieces = (count + piece - 1) / piece;
    const auto threads = static_cast<unsigned>(
        std::min<Eigen::Index>(detail::thread_count(wanted, "VirtualExamples::fill"), pieces));
    std::vector<Features> features_of(threads, features);
    std::vector<std::uint8_t> images(keeps_images ? 0 : threads * shape_.size());
    detail::parallel_for(threads, pieces, [&](unsigned worker, Eigen::Index at) {
      const Eigen::Index end = std::min(count, (at + 1) * piece);
      for (Eigen::Index row = at * piece; row < end; ++row) {
        const std::span<std::uint8_t> bytes(out.data() + row * out.outerStride(),
                                            static_cast<std::size_t>(out.cols()));
        if constexpr (keeps_images) {
          make(which(row), bytes);
        } else {
          const auto size = static_cast<std::size_t>(shape_.size());
          const auto image = std::span(images).subspan(worker * size, size);
          make(which(row), image);
          features_of[worker](std::span<const std::uint8_t>(image), bytes);
        }
      }
    });
  }

  ImageShape shape_;
  const std::uint8_t* images_;
  Eigen::Index examples_;
  Eigen::Index step_;
  Transform transform_;
  std::uint64_t seed_;
};

template <class Images, class Parameters>
VirtualExamples(ImageShape, const Images&, const Parameters&, std::uint64_t = 1)
    -> VirtualExamples<decltype(detail::prepared_transform(std::declval<const Parameters&>()))>;

}  // namespace bpm
