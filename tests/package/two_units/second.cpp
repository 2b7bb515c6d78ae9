// SPDX-License-Identifier: MIT
#include <bpm/bpm.hpp>
#include <bpm/gaussian_process.hpp>

int version_in_second_unit();

int version_in_second_unit() { return bpm::version_minor; }
