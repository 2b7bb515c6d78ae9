// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpm/cluster/communicator.hpp"
#include "bpm/core/errors.hpp"
#include "bpm/storage/checkpoint_error.hpp"

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

/// The types of errors that cross from rank to rank.
enum class ErrorKind : std::int64_t {
  none,
  argument,
  data,
  not_separable,
  budget,
  kernel_value,
  stopped,
  checkpoint,
  other,
};

struct PlainError {
  ErrorKind kind = ErrorKind::none;
  std::string what;
};

[[nodiscard]] inline PlainError plain_error(const std::exception_ptr& error) {
  if (!error) return {};
  try {
    std::rethrow_exception(error);
  } catch (const std::invalid_argument& e) {
    return {ErrorKind::argument, e.what()};
  } catch (const DataError& e) {
    return {ErrorKind::data, e.what()};
  } catch (const NotSeparable& e) {
    return {ErrorKind::not_separable, e.what()};
  } catch (const BudgetTooSmall& e) {
    return {ErrorKind::budget, e.what()};
  } catch (const KernelValueError& e) {
    return {ErrorKind::kernel_value, e.what()};
  } catch (const Stopped& e) {
    return {ErrorKind::stopped, e.what()};
  } catch (const CheckpointError& e) {
    return {ErrorKind::checkpoint, e.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::other, "out of memory"};
  } catch (const std::exception& e) {
    return {ErrorKind::other, e.what()};
  } catch (...) {
    return {ErrorKind::other, "an error of an unknown type"};
  }
}

[[noreturn]] inline void throw_plain(const PlainError& error, int rank) {
  switch (error.kind) {
    case ErrorKind::argument:
      throw std::invalid_argument(error.what);
    case ErrorKind::data:
      throw DataError(error.what);
    case ErrorKind::not_separable:
      throw NotSeparable(error.what);
    case ErrorKind::budget:
      throw BudgetTooSmall(error.what);
    case ErrorKind::kernel_value:
      throw KernelValueError(error.what);
    case ErrorKind::stopped:
      throw Stopped(error.what);
    case ErrorKind::checkpoint:
      throw CheckpointError(error.what);
    case ErrorKind::none:
    case ErrorKind::other:
      break;
  }
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
  const std::vector<ErrorKind> kinds = ranks.all_gather(mine.kind);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const ErrorKind kind = kinds[rank];
    if (kind != ErrorKind::none) {
      throw_plain({kind, ranks.broadcast_text(mine.what, rank)}, rank);
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
