// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bpm::detail {

/// One problem's part in a mistake: scale (+1 or -1) times the kernel row of the mistaken point.
struct MistakeUpdate {
  std::int32_t problem = 0;
  std::int32_t scale = 0;
};

/// The points at which some problem made a mistake, in order and numbered from the start of a run,
/// until every window has seen them.
template <class Mistake>
class MistakeList {
 public:
  void clear() { *this = {}; }

  [[nodiscard]] std::int64_t begin() const { return first_; }
  [[nodiscard]] std::int64_t end() const { return first_ + std::ssize(entries_); }
  [[nodiscard]] const Mistake& operator[](std::int64_t number) const {
    return entries_[number - first_].mistake;
  }
  [[nodiscard]] std::span<const MistakeUpdate> updates(std::int64_t number) const {
    const std::size_t begin = updates_end(number - 1);
    return std::span(updates_).subspan(begin - forgotten_, updates_end(number) - begin);
  }

  void add(Mistake mistake) {
    entries_.push_back({std::move(mistake), forgotten_ + updates_.size()});
  }
  /// To the mistake added last.
  void add_update(MistakeUpdate update) {
    updates_.push_back(update);
    ++entries_.back().updates_end;
  }

  /// Forgets mistakes below `number`.
  void forget(std::int64_t number) {
    if (number <= first_) return;
    const std::size_t updates = updates_end(number - 1);
    updates_.erase(updates_.begin(),
                   updates_.begin() + static_cast<std::ptrdiff_t>(updates - forgotten_));
    entries_.erase(entries_.begin(), entries_.begin() + (number - first_));
    forgotten_ = updates;
    first_ = number;
  }

 private:
  struct Entry {
    Mistake mistake;
    std::size_t updates_end;  ///< Updates up to here, numbered from the start of the run.
  };

  [[nodiscard]] std::size_t updates_end(std::int64_t number) const {
    return number < first_ ? forgotten_ : entries_[number - first_].updates_end;
  }

  std::vector<Entry> entries_;
  std::vector<MistakeUpdate> updates_;
  std::int64_t first_ = 0;
  std::size_t forgotten_ = 0;  ///< Updates of mistakes that are forgotten.
};

}  // namespace bpm::detail
