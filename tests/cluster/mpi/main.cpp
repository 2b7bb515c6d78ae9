// SPDX-License-Identifier: MIT
// Runs the tests of this folder on every rank at once; rank 0 reports, others only what fails.
//   mpirun -np 4 bpm_mpi_tests [CATCH2 ARGUMENTS]
#define CATCH_CONFIG_RUNNER
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "bpm/cluster/communicator.hpp"
#include "catch.hpp"

int main(int argc, char** argv) {
  const bpm::MpiSession mpi;
  std::ostringstream text;
  std::streambuf* const screen = std::cout.rdbuf();
  if (mpi.rank() != 0) std::cout.rdbuf(text.rdbuf());
  int failed = 0;
  mpi.run([&] { failed = Catch::Session().run(argc, argv); },
          [](const std::string& message) { std::cerr << message << '\n'; });
  std::cout.rdbuf(screen);
  if (failed != 0 && mpi.rank() != 0) {
    std::cerr << "rank " << mpi.rank() << ":\n" << text.str() << '\n';
  }
  int worst = 0;
  MPI_Allreduce(&failed, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}
