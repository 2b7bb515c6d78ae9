// SPDX-License-Identifier: MIT
#include "bpm/kernels/dot_product.hpp"

double degree_of(const bpm::Polynomial& kernel);

int main() { return degree_of(bpm::Polynomial(3, 1, 1)) == 3 ? 0 : 1; }
