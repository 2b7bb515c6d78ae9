// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"

// The C interface of MPI, without its old C++ interface, which some implementations still include
// and which would have to be linked.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1  ///< Open MPI omits its C++ interface.
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1  ///< MPICH omits its C++ interface.
#endif
#include <mpi.h>

/// \file
/// Communication of ranks, and errors: an error of one rank becomes the same error of all.

namespace bpm { inline namespace BPM_TARGET {

/// Error of one rank that is of none of the types that ranks exchange. The message begins with the
/// rank.
struct RankError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

/// Numbers as consecutive bytes, in this machine's order: a message to other ranks.
struct ByteWriter {
  std::vector<std::byte> bytes;

  template <class T>
  void number(const T& value) {
    numbers(std::span(&value, 1));
  }
  template <class Values>
  void numbers(const Values& values) {
    const auto more = std::as_bytes(std::span(values));
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  /// Adds a list's length and values.
  template <class Values>
  void list(const Values& values) {
    number(std::uint64_t{values.size()});
    numbers(values);
  }
};

/// Reads what a `ByteWriter` has written, from the front, by members of the same names.
struct ByteReader {
  std::span<const std::byte> bytes;  ///< The bytes that are left.

  template <class T>
  void number(T& value) {
    numbers(std::span(&value, 1));
  }
  template <class T>
  void numbers(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size_bytes());
    bytes = bytes.subspan(values.size_bytes());
  }
  template <class T>
  void list(std::vector<T>& values) {
    std::uint64_t size = 0;
    number(size);
    values.resize(size);
    numbers(std::span(values));
  }
};

/// A communicator of MPI for this library: collective operations on spans and vectors, whose waits
/// release the processor to other threads. Its messages are separate from those of the communicator
/// that it duplicates.
///
/// Every function that is called collective must be called by all ranks, in the same order. Errors
/// of MPI itself end the job, as is MPI's default.
class Communicator {
 public:
  /// Collective: duplicates `parent`. \throws std::invalid_argument unless MPI is running.
  explicit Communicator(MPI_Comm parent) {
    int running = 0;
    int over = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&over);
    check(running != 0 && over == 0, "Communicator", "communicator",
          "is of an MPI that is not running: make an MpiSession first");
    check(parent != MPI_COMM_NULL, "Communicator", "communicator", "is MPI_COMM_NULL");
    MPI_Comm_dup(parent, &own_);
    MPI_Comm_rank(own_, &rank_);
    MPI_Comm_size(own_, &size_);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() {
    // If one rank alone is unwinding, the others do not take part in the collective release.
    if (std::uncaught_exceptions() == 0) MPI_Comm_free(&own_);
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Waits for a request, for 100 us by yielding, then by sleeping for longer and longer times.
  static void wait(MPI_Request& request) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds longest{500};
    const auto start = Clock::now();
    std::chrono::microseconds nap{20};
    int done = 0;
    while (true) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) return;
      if (Clock::now() - start < std::chrono::microseconds(100)) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(nap);
        nap = std::min(2 * nap, longest);
      }
    }
  }

  /// Collective: returns all ranks' values, by rank.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(const T& mine) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(size_));
    complete(MPI_Iallgather, &mine, int{sizeof(T)}, MPI_BYTE, all.data(), int{sizeof(T)}, MPI_BYTE);
    return all;
  }

  /// Collective: returns the ranks' sequences, concatenated.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather_all(std::span<const T> mine) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(Layout(all_gather(mine.size())).total);
    gather_items(mine.data(), mine.size(), sizeof(T), all.data());
    return all;
  }

  /// Collective: gathers `count` items of `item` bytes, from each rank, in `all` on all ranks.
  void gather_items(const void* mine, std::size_t count, std::size_t item, void* all) const {
    const Layout layout(all_gather(count));
    MPI_Datatype type{};
    MPI_Type_contiguous(count_of(item), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    complete(MPI_Iallgatherv, mine, count_of(count), type, all, layout.counts.data(),
             layout.places.data(), type);
    MPI_Type_free(&type);
  }

  /// Collective: returns the concatenated bytes of all ranks on `root`; none elsewhere.
  [[nodiscard]] std::vector<std::byte> gather_bytes(std::span<const std::byte> mine,
                                                    int root) const {
    const Layout layout(all_gather(mine.size()));
    std::vector<std::byte> all(rank_ == root ? layout.total : 0);
    complete(MPI_Igatherv, mine.data(), count_of(mine.size()), MPI_BYTE, all.data(),
             layout.counts.data(), layout.places.data(), MPI_BYTE, root);
    return all;
  }

  /// Collective: copies the values of `root` to all ranks. Sizes must agree.
  template <class T>
  void broadcast(std::span<T> values, int root) const {
    static_assert(std::is_trivially_copyable_v<T>);
    constexpr std::size_t most = std::size_t{1} << 30U;
    auto* bytes = reinterpret_cast<std::byte*>(values.data());
    for (std::size_t left = values.size_bytes(); left > 0;) {
      const std::size_t now = std::min(left, most);
      complete(MPI_Ibcast, bytes, static_cast<int>(now), MPI_BYTE, root);
      bytes += now;
      left -= now;
    }
  }

  /// Collective: returns the text or vector of `root` on all ranks.
  template <class Values>
  [[nodiscard]] Values broadcast_all(Values values, int root) const {
    std::uint64_t size = values.size();
    broadcast(std::span(&size, 1), root);
    values.resize(size);
    broadcast(std::span(values.data(), values.size()), root);
    return values;
  }

  /// Collective: returns the ranks' arrays, double or std::int64_t, reduced entry by entry.
  template <class T, std::size_t N>
  [[nodiscard]] std::array<T, N> reduce(const std::array<T, N>& mine, MPI_Op how) const {
    std::array<T, N> all{};
    complete(MPI_Iallreduce, mine.data(), all.data(), int{N},
             std::same_as<T, double> ? MPI_DOUBLE : MPI_INT64_T, how);
    return all;
  }

  /// Returns a count as an int for MPI. \throws std::length_error if it is too large.
  [[nodiscard]] static int count_of(std::uint64_t count) {
    ensure<std::length_error>(count <= static_cast<std::uint64_t>(std::numeric_limits<int>::max()),
                              "Communicator: a message of ", count, " items is too long for MPI");
    return static_cast<int>(count);
  }

 private:
  /// Counts and offsets of concatenated sequences, as arguments of MPI.
  struct Layout {
    explicit Layout(const std::vector<std::size_t>& lengths) {
      for (const std::size_t length : lengths) {
        places.push_back(count_of(total));
        counts.push_back(count_of(length));
        total += length;
      }
    }
    std::vector<int> counts;
    std::vector<int> places;
    std::size_t total = 0;
  };

  /// Starts an operation of MPI and waits for its end.
  template <class Operation, class... Arguments>
  void complete(Operation operation, Arguments... arguments) const {
    MPI_Request request{};
    operation(arguments..., own_, &request);
    wait(request);
  }

  MPI_Comm own_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// Types of errors that ranks exchange. An error has the first type that it converts to.
using CarriedErrors = std::tuple<std::invalid_argument, DataError, NotSeparable, BudgetTooSmall,
                                 KernelValueError, Stopped, CheckpointError>;

struct PlainError {
  static constexpr std::int64_t none = -2;
  static constexpr std::int64_t other = -1;

  std::int64_t kind = none;  ///< Index in the list of exchanged types.
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

/// Collective: calls `body`, which must not communicate, on every rank. If any rank throws, every
/// rank throws the error of the lowest such rank.
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
      throw_plain({kinds[rank], ranks.broadcast_all(mine.what, rank)}, rank);
    }
  }
}

/// Collective: throws on every rank, naming the number and the rank, unless all ranks have the
/// same. \throws std::invalid_argument
inline void check_agreement(const Communicator& ranks, std::string_view name, std::uint64_t word,
                            const char* function) {
  const std::vector<std::uint64_t> all = ranks.all_gather(word);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    check(all[rank] == all[0], function, name, "of rank ", rank,
          " differ from those of rank 0: all ranks must be given the same data and settings");
  }
}

}  // namespace detail

/// Runs MPI from here to the end of the scope; does nothing if MPI runs already.
class MpiSession {
 public:
  /// Only the thread that makes the session may call functions that communicate.
  MpiSession() {
    int running = 0;
    MPI_Initialized(&running);
    if (running == 0) {
      int provided = 0;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
      owner_ = true;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  MpiSession(const MpiSession&) = delete;             ///< Deleted: one session ends MPI.
  MpiSession& operator=(const MpiSession&) = delete;  ///< Deleted: one session ends MPI.
  /// Ends MPI if this session started it.
  ~MpiSession() {
    if (owner_) MPI_Finalize();
  }

  /// Rank of this process in MPI_COMM_WORLD, from 0.
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }  ///< Processes in MPI_COMM_WORLD.

  /// Runs `body`, the collective part of a program, so that an error never leaves other ranks
  /// waiting. An exception that all ranks throw is rethrown on all. One that not all throw within
  /// `patience` ends the job: the rank that threw calls `report` and then MPI_Abort.
  template <class Body>
  void run(Body&& body, const std::function<void(const std::string&)>& report,
           std::chrono::milliseconds patience = std::chrono::milliseconds(2000)) const {
    std::exception_ptr error;
    try {
      body();
    } catch (...) {
      error = std::current_exception();
    }
    const int mine = error ? 1 : 0;
    int failed = 0;
    MPI_Request request{};
    MPI_Iallreduce(&mine, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (!error) {
      detail::Communicator::wait(request);  // A rank that failed alone ends the job, and this wait.
    } else {
      const auto end = std::chrono::steady_clock::now() + patience;
      int done = 0;
      while (done == 0 && std::chrono::steady_clock::now() < end) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (done == 0 || failed != size_) {
        report(detail::join("rank ", rank_, " of ", size_,
                            " failed, and the job ends: ", detail::plain_error(error).what));
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
    if (error) std::rethrow_exception(error);
    if (failed != 0) {
      // Other ranks failed at their very end, and are ending the job.
      std::this_thread::sleep_for(2 * patience);
    }
  }

 private:
  bool owner_ = false;
  int rank_ = 0;
  int size_ = 1;
};

}}  // namespace bpm
