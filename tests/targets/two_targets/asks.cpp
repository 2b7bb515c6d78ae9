// SPDX-License-Identifier: MIT
#include "bpm/kernels/vector_kernels.hpp"

bpm::Polynomial cubic();
double degree_of(const bpm::Polynomial& kernel);

int main() { return degree_of(cubic()) == 3 ? 0 : 1; }
