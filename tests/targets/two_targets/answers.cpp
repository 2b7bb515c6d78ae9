// SPDX-License-Identifier: MIT
#include "bpm/kernels/vector_kernels.hpp"

bpm::Polynomial cubic();
double degree_of(const bpm::Polynomial& kernel);

bpm::Polynomial cubic() { return bpm::Polynomial(3, 1, 1); }
double degree_of(const bpm::Polynomial& kernel) { return kernel.degree(); }
