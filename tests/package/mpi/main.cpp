// SPDX-License-Identifier: MIT
// Started without mpirun: a job of one rank.
#include <bpm/cluster/communicator.hpp>

int main() {
  const bpm::MpiSession mpi;
  const bpm::detail::Communicator ranks(MPI_COMM_WORLD);
  return mpi.size() == 1 && ranks.all_gather(7).front() == 7 ? 0 : 1;
}
