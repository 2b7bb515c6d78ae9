// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bpm/cluster/communicator.hpp"
#include "bpm/core/errors.hpp"

/// \file
/// How ranks fail together: an error of one becomes the same error of all.

namespace bpm {

/// Something went wrong on one rank for which there is no type of its own. The message names the
/// rank and says what.
class RankError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

/// The types of errors that cross from rank to rank. An error is of the first that fits.
using CarriedErrors = std::tuple<std::invalid_argument, DataError, NotSeparable, BudgetTooSmall,
                                 KernelValueError, Stopped, CheckpointError>;

struct PlainError {
  static constexpr std::int64_t none = -2;
  static constexpr std::int64_t other = -1;

  std::int64_t kind = none;  ///< Place among the carried types.
  std::string what;

  [[nodiscard]] explicit operator bool() const { return kind != none; }
};

[[nodiscard]] inline PlainError plain_error(const std::exception_ptr& error) {
  if (!error) return {};
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    return {PlainError::other, "out of memory"};
  } catch (const std::exception& e) {
    return [&]<class... Errors>(std::tuple<Errors...>*) {
      std::int64_t kind = 0;
      const bool carried = ((dynamic_cast<const Errors*>(&e) != nullptr || (++kind, false)) || ...);
      return PlainError{carried ? kind : PlainError::other, e.what()};
    }(static_cast<CarriedErrors*>(nullptr));
  } catch (...) {
    return {PlainError::other, "an error of an unknown type"};
  }
}

[[noreturn]] inline void throw_plain(const PlainError& error, int rank) {
  [&]<class... Errors>(std::tuple<Errors...>*) {
    std::int64_t kind = error.kind;
    const auto try_one = [&]<class Error>(Error*) {
      if (kind-- == 0) throw Error(error.what);
    };
    (try_one(static_cast<Errors*>(nullptr)), ...);
  }(static_cast<CarriedErrors*>(nullptr));
  throw RankError(join("rank ", rank, ": ", error.what));
}

/// Collective: calls `body`, which must not communicate, on every rank. If it throws anywhere,
/// every rank throws what the one of the lowest number threw.
template <class Body>
void together(const Communicator& ranks, Body&& body) {
  PlainError mine;
  try {
    body();
  } catch (...) {
    mine = plain_error(std::current_exception());
  }
  const std::vector<std::int64_t> kinds = ranks.all_gather(mine.kind);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (kinds[rank] != PlainError::none) {
      throw_plain({kinds[rank], ranks.broadcast_text(mine.what, rank)}, rank);
    }
  }
}

/// Collective: throws on every rank unless all have the same numbers, and says what differs where.
/// \throws std::invalid_argument
template <std::size_t N>
void check_agreement(const Communicator& ranks, const std::array<std::uint64_t, N>& mine,
                     const std::array<const char*, N>& names, const char* function) {
  const auto all = ranks.all_gather(mine);
  for (std::size_t part = 0; part < N; ++part) {
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
      check(all[rank][part] == all[0][part], function, names[part], "of rank ", rank,
            " differ from those of rank 0: all ranks must be given the same data and settings");
    }
  }
}

}  // namespace detail
}  // namespace bpm
