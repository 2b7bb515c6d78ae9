// SPDX-License-Identifier: MIT
#include "bpm/kernels/polynomial.hpp"

double degree_of(const bpm::Polynomial& kernel);
double degree_of(const bpm::Polynomial& kernel) { return kernel.degree(); }
