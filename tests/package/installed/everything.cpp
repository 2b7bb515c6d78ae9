// SPDX-License-Identifier: MIT
// All headers at once, with the consumer's warnings.
#include <bpm/bpm.hpp>
#include <bpm/data.hpp>
#include <bpm/images.hpp>
