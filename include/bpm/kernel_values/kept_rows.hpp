// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "bpm/core/buffer.hpp"
#include "bpm/core/points.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET { namespace detail {

/// Kernel rows that are kept once they are known, within a byte budget, for those who will ask for
/// them again. Where not all fit, those of the points that are asked for most often stay.
///
/// A user borrows the rows of some points: those that are kept he may read, those that he is to
/// fill he writes, whole, before he gives them back; from then on all may read them. A borrowed row
/// stays where it is.
template <class T>
class KeptRows {
 public:
  /// A point's row while it is borrowed.
  struct Row {
    const T* read = nullptr;  ///< Its values, or null: they are not known.
    T* write = nullptr;       ///< Where to write them, if they are wanted.
    std::int32_t place = nowhere;
  };

  /// As many rows of m values as `bytes` hold, at most m. A row is kept from the `from`th time on
  /// that its point is asked for: memory is touched for rows that come again.
  KeptRows(std::ptrdiff_t m, std::size_t bytes, std::uint32_t from = 1)
      : from_(from),
        stride_(stride(m)),
        places_(static_cast<std::size_t>(
            m == 0 ? 0 : std::min(static_cast<std::size_t>(m), bytes / row_bytes(m)))),
        values_(std::ssize(places_) * stride_, LargePages{}),
        place_of_(static_cast<std::size_t>(m), nowhere),
        asked_(static_cast<std::size_t>(m), 0) {}
  KeptRows(const KeptRows&) = delete;
  KeptRows& operator=(const KeptRows&) = delete;

  /// Bytes that a row takes, and what is noted of each point.
  [[nodiscard]] static constexpr std::size_t row_bytes(std::ptrdiff_t m) noexcept {
    return static_cast<std::size_t>(stride(m)) * sizeof(T);
  }
  static constexpr std::size_t point_bytes = sizeof(std::int32_t) + sizeof(std::uint32_t);

  [[nodiscard]] std::ptrdiff_t capacity() const noexcept { return std::ssize(places_); }
  /// Rows that hold values, or are being filled.
  [[nodiscard]] std::ptrdiff_t kept() const {
    const std::scoped_lock lock(mutex_);
    return used_;
  }
  /// Of the rows that were borrowed, how many there were and how many were known.
  [[nodiscard]] std::uint64_t borrowed() const {
    const std::scoped_lock lock(mutex_);
    return borrowed_;
  }
  [[nodiscard]] std::uint64_t found() const {
    const std::scoped_lock lock(mutex_);
    return found_;
  }

  /// Borrows the rows of points, each once. Of any thread, as the next.
  void borrow(std::span<const PointIndex> points, std::vector<Row>& rows) {
    rows.assign(points.size(), {});
    const std::scoped_lock lock(mutex_);
    borrowed_ += points.size();
    for (std::size_t k = 0; k < points.size(); ++k) {
      const auto i = static_cast<std::size_t>(points[k]);
      ++asked_[i];
      Row& row = rows[k];
      row.place = place_of_[i];
      if (row.place != nowhere && !places_[row.place].known) {
        row.place = nowhere;  // Another thread fills it.
        continue;
      }
      if (row.place != nowhere) {
        row.read = values_of(row.place);
        ++found_;
      } else if (row.place = asked_[i] < from_ ? nowhere : room_for(i); row.place != nowhere) {
        row.write = values_of(row.place);
        places_[row.place] = {points[k], 0, false};
        place_of_[i] = row.place;
      } else {
        continue;
      }
      ++places_[row.place].borrowers;
    }
  }

  /// Gives borrowed rows back; `filled`: those that were to be written hold their values, else they
  /// are forgotten.
  void give_back(std::span<const Row> rows, bool filled) {
    const std::scoped_lock lock(mutex_);
    for (const Row& row : rows) {
      if (row.place == nowhere) continue;
      Place& place = places_[row.place];
      --place.borrowers;
      if (row.write == nullptr) continue;
      if (filled) {
        place.known = true;
      } else {
        place_of_[static_cast<std::size_t>(place.point)] = nowhere;
        place.point = nobody;
      }
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

  /// Values of a row with its padding: whole cache lines.
  [[nodiscard]] static constexpr std::ptrdiff_t stride(std::ptrdiff_t m) noexcept {
    constexpr std::ptrdiff_t line = 64 / std::ptrdiff_t{sizeof(T)};
    return (m + line - 1) / line * line;
  }
  [[nodiscard]] T* values_of(std::int32_t place) noexcept {
    return values_.data() + place * stride_;
  }

  /// A place for point i: a free one, or of some others that nobody reads the next whose point was
  /// asked for less often.
  [[nodiscard]] std::int32_t room_for(std::size_t i) {
    if (used_ < capacity()) return static_cast<std::int32_t>(used_++);
    constexpr int looks = 32;
    for (int look = 0; look < std::min<std::ptrdiff_t>(looks, capacity()); ++look) {
      hand_ = hand_ + 1 < capacity() ? hand_ + 1 : 0;
      Place& place = places_[static_cast<std::size_t>(hand_)];
      if (place.borrowers > 0) continue;
      if (place.point == nobody) return static_cast<std::int32_t>(hand_);
      const auto other = static_cast<std::size_t>(place.point);
      if (asked_[other] < asked_[i]) {
        place_of_[other] = nowhere;
        return static_cast<std::int32_t>(hand_);
      }
    }
    return nowhere;
  }

  std::uint32_t from_;
  std::ptrdiff_t stride_;
  std::vector<Place> places_;
  Buffer<T> values_;
  mutable std::mutex mutex_;  ///< Guards all but the values.
  std::vector<std::int32_t> place_of_;
  std::vector<std::uint32_t> asked_;  ///< How often each point was.
  std::ptrdiff_t used_ = 0;           ///< Places from the first on that were ever taken.
  std::ptrdiff_t hand_ = 0;
  std::uint64_t borrowed_ = 0;
  std::uint64_t found_ = 0;
};

/// Borrowed rows, which are given back at the end of its life. Where no rows are kept, none is
/// known.
template <class T>
class BorrowedRows {
 public:
  using Row = typename KeptRows<T>::Row;

  /// `rows` is its memory.
  BorrowedRows(KeptRows<T>* kept, std::span<const PointIndex> points, std::vector<Row>& rows)
      : kept_(kept), rows_(rows) {
    if (kept_ != nullptr) {
      kept_->borrow(points, rows_);
    } else {
      rows_.assign(points.size(), {});
    }
  }
  BorrowedRows(const BorrowedRows&) = delete;
  BorrowedRows& operator=(const BorrowedRows&) = delete;
  ~BorrowedRows() {
    if (kept_ != nullptr) kept_->give_back(rows_, filled_);
  }

  [[nodiscard]] const Row& operator[](std::size_t k) const { return rows_[k]; }
  /// Those that were to be written hold their values.
  void set_filled() noexcept { filled_ = true; }

 private:
  KeptRows<T>* kept_;
  std::vector<Row>& rows_;
  bool filled_ = false;
};

}}}  // namespace bpm::detail
