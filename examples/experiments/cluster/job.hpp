// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include "common/options.hpp"
#ifdef BPM_CLUSTER_MPI
#include "bpm/cluster/communicator.hpp"
#endif

/// \file
/// The job that this process is a rank of; without MPI, itself.

namespace bpm_examples {

#ifdef BPM_CLUSTER_MPI
inline constexpr bool built_with_mpi = true;
using ClusterJob = bpm::MpiSession;
#else
inline constexpr bool built_with_mpi = false;

/// Ranks that a launcher of MPI started, by what it tells its processes; 1 without one.
inline int launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* text = std::getenv(name); text != nullptr) {
      try {
        return parse_whole<int>(text, 1, 1'000'000'000);
      } catch (const std::invalid_argument&) {
        continue;
      }
    }
  }
  return 1;
}

/// Throws `std::runtime_error` where a launcher started several of it.
class ClusterJob {
 public:
  ClusterJob() {
    if (const int ranks = launched_ranks(); ranks > 1) {
      throw std::runtime_error(
          "started as one of " + std::to_string(ranks) +
          " ranks, but built without MPI: each would train the whole model alone. Install MPI "
          "(Debian and Ubuntu: libopenmpi-dev openmpi-bin), configure again with BPM_MPI=ON, or "
          "start it without mpirun");
    }
  }
  [[nodiscard]] int rank() const noexcept { return 0; }
  [[nodiscard]] int size() const noexcept { return 1; }
  template <class Body>
  void run(Body&& body, const std::function<void(const std::string&)>& /*report*/) const {
    body();
  }
};
#endif

}  // namespace bpm_examples
