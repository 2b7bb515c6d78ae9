// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Readers of data: tables, LIBSVM's format, IDX. bpm/data/gzip.hpp reads compressed files.

#include "bpm/data/idx.hpp"
#include "bpm/data/source.hpp"
#include "bpm/data/svmlight.hpp"
#include "bpm/data/table.hpp"
#include "bpm/machine/table_encoding.hpp"
