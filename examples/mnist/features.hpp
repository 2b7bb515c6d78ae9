// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/images/deformation.hpp"
#include "bpm/images/gradient_features.hpp"
#include "bpm/images/image_shape.hpp"
#include "bpm/images/virtual_examples.hpp"
#include "common/machine_info.hpp"
#include "common/program.hpp"
#include "fit_each_draw.hpp"

/// \file
/// What kernels see of images, and the copies of the training images that are trained on as well.

namespace bpm_examples {

/// How images become inputs.
struct ImageOptions {
  bool gradient = false;    ///< Gradient features, else pixels.
  bool upright = false;     ///< Slant is removed before.
  std::string copies_by{};  ///< "shifts", "elastic", or empty: no virtual examples.
  int copies = 0;           ///< A training image and draw.
};

/// Turns images into what kernels see of them, one per row. Callable on one image, which
/// `VirtualExamples` hands over; copies of it may work at once.
class ImageFeatures {
 public:
  ImageFeatures(const ImageOptions& options, const bpm::ImageShape& shape) {
    if (options.upright) {
      upright_.emplace(shape);
      image_.resize(static_cast<std::size_t>(shape.size()));
    }
    if (options.gradient) {
      gradient_.emplace(shape);
      scratch_ = gradient_->scratch();
    }
  }

  [[nodiscard]] Eigen::Index size(Eigen::Index pixels) const {
    return gradient_ ? gradient_->size() : pixels;
  }
  /// None for pixels.
  [[nodiscard]] const std::optional<bpm::GradientFeatures>& gradient() const { return gradient_; }

  [[nodiscard]] bpm::RowMatrix<std::uint8_t> of(const bpm::RowMatrix<std::uint8_t>& images,
                                                int threads) const {
    const auto workers = static_cast<unsigned>(threads);
    if (upright_ && gradient_) return (*gradient_)((*upright_)(images, workers), workers);
    if (upright_) return (*upright_)(images, workers);
    return gradient_ ? (*gradient_)(images, workers) : images;
  }

  void operator()(std::span<const std::uint8_t> image, std::span<std::uint8_t> features) {
    if (upright_) {
      (*upright_)(image.data(), gradient_ ? image_.data() : features.data());
      if (!gradient_) return;
      image = image_;
    }
    if (gradient_) {
      (*gradient_)(image.data(), features.data(), scratch_);
    } else {
      std::copy(image.begin(), image.end(), features.begin());
    }
  }

 private:
  std::optional<bpm::SlantRemoval> upright_;
  std::optional<bpm::GradientFeatures> gradient_;
  bpm::GradientFeatures::Scratch scratch_;
  std::vector<std::uint8_t> image_;
};

/// Calls use(examples) with the images and their copies of the kind that is asked for.
template <class Use>
void with_copies(const ImageOptions& options, const bpm::ImageShape& shape,
                 const bpm::RowMatrix<std::uint8_t>& images, std::uint64_t seed, const Use& use) {
  options.copies_by == "shifts"
      ? use(bpm::VirtualExamples(shape, images, bpm::Shifts{}, seed))
      : use(bpm::VirtualExamples(shape, images, bpm::Deformation{}, seed));
}

/// The image of an example: number copy * images + image.
[[nodiscard]] inline std::vector<std::uint8_t> image_of(bpm::PointIndex number,
                                                        const ImageOptions& options,
                                                        const bpm::ImageShape& shape,
                                                        const bpm::RowMatrix<std::uint8_t>& images,
                                                        std::uint64_t seed) {
  std::vector<std::uint8_t> image(static_cast<std::size_t>(shape.size()));
  const auto count = static_cast<bpm::PointIndex>(images.rows());
  with_copies(options, shape, images, seed, [&](const auto& examples) {
    examples.copy({number % count, static_cast<std::uint64_t>(number / count)}, image);
  });
  return image;
}

/// The training sets of draws: the images and, of each, copies of the draw's own. Shifts are the
/// same for all draws: there are no others.
class VirtualDigits {
 public:
  /// All but the options are referred to. `inputs`: what kernels see of the images.
  VirtualDigits(const ImageOptions& options, const bpm::ImageShape& shape,
                const bpm::RowMatrix<std::uint8_t>& images,
                const bpm::RowMatrix<std::uint8_t>& inputs, const std::vector<int>& labels,
                std::uint64_t seed, int threads)
      : options_(options),
        shape_(shape),
        images_(images),
        inputs_(inputs),
        labels_(labels),
        seed_(seed),
        threads_(static_cast<unsigned>(threads)) {}

  /// Throws `UsageError` where the examples of all draws cannot be numbered.
  void check_numbers(std::uint64_t draws) const {
    const auto all =
        static_cast<double>(images_.rows()) * (static_cast<double>(draws) * options_.copies + 1);
    if (all > static_cast<double>(std::numeric_limits<bpm::PointIndex>::max())) {
      throw UsageError("--copies " + std::to_string(options_.copies) + " of " +
                       std::to_string(images_.rows()) + " images in " + std::to_string(draws) +
                       " draws are more than 2^31 examples");
    }
  }

  /// Examples that a draw sees.
  [[nodiscard]] Eigen::Index size() const { return images_.rows() * (1 + options_.copies); }

  [[nodiscard]] DrawSet<bpm::RowMatrix<std::uint8_t>> set_of(std::uint64_t draw) {
    const WallTimer timer;
    const Eigen::Index m = images_.rows();
    const auto copies = static_cast<std::uint64_t>(options_.copies);
    const std::uint64_t first = (options_.copies_by == "shifts" ? 0 : draw * copies) + 1;
    DrawSet<bpm::RowMatrix<std::uint8_t>> set;
    set.inputs.resize(size(), inputs_.cols());
    set.inputs.topRows(m) = inputs_;
    fill(first, first + copies, set.inputs.bottomRows(size() - m));
    set.labels.reserve(static_cast<std::size_t>(size()));
    set.numbers.reserve(static_cast<std::size_t>(size()));
    for (std::uint64_t c = 0; c <= copies; ++c) {
      set.labels.insert(set.labels.end(), labels_.begin(), labels_.end());
      const auto copy = static_cast<Eigen::Index>(c == 0 ? 0 : first + c - 1);
      for (Eigen::Index i = 0; i < m; ++i) {
        set.numbers.push_back(static_cast<bpm::PointIndex>(copy * m + i));
      }
    }
    seconds_ += timer.seconds();
    return set;
  }

  /// What kernels see of copies [first, last) of all images.
  void fill(std::uint64_t first, std::uint64_t last,
            Eigen::Ref<bpm::RowMatrix<std::uint8_t>> out) const {
    const ImageFeatures features(options_, shape_);
    with_copies(options_, shape_, images_, seed_, [&](const auto& examples) {
      examples.fill(examples.all(first, last), features, out, threads_);
    });
  }

  /// Spent on copies so far.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  ImageOptions options_;
  bpm::ImageShape shape_;
  const bpm::RowMatrix<std::uint8_t>& images_;
  const bpm::RowMatrix<std::uint8_t>& inputs_;
  const std::vector<int>& labels_;
  std::uint64_t seed_;
  unsigned threads_;
  double seconds_ = 0;
};

}  // namespace bpm_examples
