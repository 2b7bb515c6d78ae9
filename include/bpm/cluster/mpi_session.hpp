// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <thread>

#include "bpm/cluster/communicator.hpp"
#include "bpm/core/check.hpp"
#include "bpm/core/target.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// MPI from here to the end of the scope. Where it runs already, nothing is done.
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
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession() {
    if (owner_) MPI_Finalize();
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Runs `body`, the collective part of a program, so that an error never leaves other ranks
  /// waiting. An exception that all ranks throw is rethrown on all. One that not all throw within
  /// `patience` ends the job: `report` is told on the rank that threw, and MPI_Abort ends all.
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
      // Others failed at their very end, and are ending the job.
      std::this_thread::sleep_for(2 * patience);
    }
  }

 private:
  bool owner_ = false;
  int rank_ = 0;
  int size_ = 1;
};

}}  // namespace bpm
