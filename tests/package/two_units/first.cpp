// SPDX-License-Identifier: MIT
#include <bpm/bpm.hpp>
#include <bpm/gaussian_process.hpp>

int version_in_second_unit();

int main() { return version_in_second_unit() == bpm::version_minor ? 0 : 1; }
