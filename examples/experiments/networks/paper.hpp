// SPDX-License-Identifier: MIT
#pragma once

#include <array>

namespace bpm_examples {

/// A size of Figure 2 of J. Bernstein, A. Farhang, Y. Yue, "Kernel interpolation as a Bayes point
/// machine", as the authors' notebook printed it: MNIST, depth 7, width 1000, 501 voters, all test
/// images. Errors in percent.
struct PaperSize {
  int n;
  double network_gibbs;
  double network_bayes;
  double large_margin;
  double interpolator;
};

inline constexpr std::array<PaperSize, 20> paper_sizes{
    {{50, 37.2464, 24.41, 21.14, 20.66}, {100, 32.5744, 13.19, 12.63, 12.89},
     {150, 31.1127, 10.0, 10.19, 11.17}, {200, 30.6083, 10.44, 9.14, 9.96},
     {250, 29.2674, 10.51, 8.85, 8.86},  {300, 29.2555, 9.76, 9.32, 9.64},
     {350, 28.1001, 9.43, 7.84, 8.12},   {400, 27.5042, 9.49, 8.45, 8.53},
     {450, 26.6614, 7.01, 5.77, 6.56},   {500, 26.087, 7.04, 6.53, 5.97},
     {550, 25.5198, 7.07, 6.21, 5.77},   {600, 25.4359, 6.41, 5.61, 5.43},
     {650, 25.063, 6.58, 5.67, 5.74},    {700, 25.05, 6.8, 5.23, 4.88},
     {750, 24.2531, 5.78, 5.05, 4.69},   {800, 24.6888, 7.1, 5.34, 5.08},
     {850, 24.3896, 7.25, 5.35, 4.79},   {900, 24.0045, 6.53, 4.84, 4.81},
     {950, 23.3079, 5.8, 4.91, 4.43},    {1000, 23.1509, 5.48, 4.41, 4.27}}};

}  // namespace bpm_examples
