// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Readers of data: tables, LIBSVM's format, IDX. Those of packed files are in bpm/data/gzip.hpp.

#include "bpm/data/idx.hpp"
#include "bpm/data/source.hpp"
#include "bpm/data/svmlight.hpp"
#include "bpm/data/table.hpp"
