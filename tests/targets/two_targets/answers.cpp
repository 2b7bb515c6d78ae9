// SPDX-License-Identifier: MIT
#include "bpm/kernels/dot_product.hpp"

double degree_of(const bpm::Polynomial& kernel);
double degree_of(const bpm::Polynomial& kernel) { return kernel.degree(); }
