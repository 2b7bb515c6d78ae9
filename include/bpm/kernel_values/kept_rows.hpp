// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Kernel rows that are kept once they are known, within a byte budget, for those who will ask for
/// them again. Where not all fit, those of the points that are asked for most often stay. Memory is
/// touched only as rows are filled.
///
/// A row is borrowed: one that is kept may be read, one that is to be kept is written, whole,
/// before it is given back; from then on all may read it. A borrowed row stays where it is.
template <class T>
class KeptRows {
 public:
  /// A point's row while it is borrowed.
  struct Row {
    const T* read = nullptr;  ///< Its values, or null: they are not known.
    T* write = nullptr;       ///< Where to write them, if they are wanted.
    std::int32_t place = nowhere;
  };

  /// As many rows of m values as `bytes` hold, at most m.
  KeptRows(std::ptrdiff_t m, std::size_t bytes)
      : size_(m),
        places_(static_cast<std::size_t>(
            m == 0 ? 0 : std::min(static_cast<std::size_t>(m), bytes / row_bytes(m)))),
        values_(std::ssize(places_) * m),
        place_of_(static_cast<std::size_t>(m), nowhere),
        asked_(static_cast<std::size_t>(m), 0) {}
  KeptRows(const KeptRows&) = delete;
  KeptRows& operator=(const KeptRows&) = delete;

  /// Bytes that a row takes, and what is noted of each point.
  [[nodiscard]] static constexpr std::size_t row_bytes(std::ptrdiff_t m) noexcept {
    return static_cast<std::size_t>(m) * sizeof(T);
  }
  static constexpr std::size_t point_bytes = sizeof(std::int32_t) + sizeof(std::uint32_t);

  [[nodiscard]] std::ptrdiff_t capacity() const noexcept { return std::ssize(places_); }
  /// Places that were ever taken.
  [[nodiscard]] std::ptrdiff_t kept() const {
    const std::scoped_lock lock(mutex_);
    return used_;
  }

  /// Row i. Of any thread, as the next.
  [[nodiscard]] Row borrow(PointIndex i) {
    const auto point = static_cast<std::size_t>(i);
    const std::scoped_lock lock(mutex_);
    ++asked_[point];
    Row row{.place = place_of_[point]};
    if (row.place == nowhere) {
      row.place = room_for(point);
      if (row.place == nowhere) return {};
      row.write = values_.data() + row.place * size_;
      places_[row.place] = {.point = i};
      place_of_[point] = row.place;
    } else if (places_[row.place].known) {
      row.read = values_.data() + row.place * size_;
    } else {
      return {};  // Another thread fills it.
    }
    ++places_[row.place].borrowers;
    return row;
  }

  /// `filled`: a row that was to be written holds its values, else it is forgotten.
  void give_back(const Row& row, bool filled) {
    if (row.place == nowhere) return;
    const std::scoped_lock lock(mutex_);
    Place& place = places_[row.place];
    --place.borrowers;
    if (row.write == nullptr) return;
    place.known = filled;
    if (!filled) {
      place_of_[static_cast<std::size_t>(place.point)] = nowhere;
      place.point = nobody;
    }
  }

 private:
  static constexpr std::int32_t nowhere = -1;
  static constexpr PointIndex nobody = -1;

  struct Place {
    PointIndex point = nobody;
    std::int32_t borrowers = 0;
    bool known = false;
  };

  /// A place for a point: a free one, or of the next few that nobody has borrowed the first whose
  /// point was asked for less often.
  [[nodiscard]] std::int32_t room_for(std::size_t point) {
    if (used_ < capacity()) return static_cast<std::int32_t>(used_++);
    const std::ptrdiff_t looks = std::min<std::ptrdiff_t>(32, capacity());
    for (std::ptrdiff_t look = 0; look < looks; ++look) {
      hand_ = hand_ + 1 < capacity() ? hand_ + 1 : 0;
      const Place& place = places_[static_cast<std::size_t>(hand_)];
      if (place.borrowers > 0) continue;
      if (place.point == nobody) return static_cast<std::int32_t>(hand_);
      const auto other = static_cast<std::size_t>(place.point);
      if (asked_[other] < asked_[point]) {
        place_of_[other] = nowhere;
        return static_cast<std::int32_t>(hand_);
      }
    }
    return nowhere;
  }

  std::ptrdiff_t size_;
  std::vector<Place> places_;
  Buffer<T> values_;
  mutable std::mutex mutex_;  ///< Guards all but the values.
  std::vector<std::int32_t> place_of_;
  std::vector<std::uint32_t> asked_;  ///< How often each point was.
  std::ptrdiff_t used_ = 0;
  std::ptrdiff_t hand_ = 0;
};

/// A borrowed row, which is given back at the end of its life. Where no rows are kept it is neither
/// known nor wanted.
template <class T>
class BorrowedRow {
 public:
  BorrowedRow(KeptRows<T>* kept, PointIndex i) : kept_(kept) {
    if (kept_ != nullptr) row_ = kept_->borrow(i);
  }
  BorrowedRow(const BorrowedRow&) = delete;
  BorrowedRow& operator=(const BorrowedRow&) = delete;
  ~BorrowedRow() {
    if (kept_ != nullptr) kept_->give_back(row_, filled_);
  }

  [[nodiscard]] const T* read() const noexcept { return row_.read; }
  [[nodiscard]] T* write() const noexcept { return row_.write; }
  /// A row that was to be written holds its values.
  void set_filled() noexcept { filled_ = true; }

 private:
  KeptRows<T>* kept_;
  typename KeptRows<T>::Row row_{};
  bool filled_ = false;
};

}}}  // namespace bpm::detail
