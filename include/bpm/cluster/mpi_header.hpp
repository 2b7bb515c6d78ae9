// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The C interface of MPI. Its old C++ interface, which some implementations still bring along and
/// which would have to be linked, is left out.

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
