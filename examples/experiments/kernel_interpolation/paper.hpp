// SPDX-License-Identifier: MIT
#pragma once

#include <array>

/// \file
/// The authors' numbers: Figure 2, left, of J. Bernstein, A. Farhang, Y. Yue, "Kernel interpolation
/// as a Bayes point machine" (2021). Isotropic posterior, depth 7, one subset a size.

namespace bpm_examples {

struct PublishedRates {
  int n;
  double gibbs_bound;  ///< Lemma 7 with the complexity A, percent.
  double rademacher;   ///< Percent, without its confidence term.
  double gibbs;        ///< Test errors, percent.
  double bayes;
  double interpolator;
};

inline constexpr std::array<PublishedRates, 20> published_rates{{
    {50, 58.4702, 840.4398, 39.0524, 20.65, 20.66},
    {100, 51.4296, 783.2839, 34.2134, 12.87, 12.89},
    {150, 48.6525, 758.3615, 32.3396, 11.12, 11.17},
    {200, 47.2728, 748.7816, 30.849, 9.96, 9.96},
    {250, 44.9183, 677.8162, 30.7165, 8.89, 8.86},
    {300, 45.4594, 739.1733, 30.5407, 9.62, 9.64},
    {350, 43.8993, 686.8297, 29.4625, 8.1, 8.12},
    {400, 43.0625, 668.2844, 29.6503, 8.54, 8.53},
    {450, 43.1499, 688.238, 28.6412, 6.55, 6.56},
    {500, 42.7399, 671.7559, 28.3961, 5.94, 5.97},
    {550, 42.4142, 665.8848, 27.6898, 5.79, 5.77},
    {600, 42.2368, 671.3642, 27.5806, 5.43, 5.43},
    {650, 42.1319, 675.8243, 27.2765, 5.75, 5.74},
    {700, 42.2555, 672.9207, 27.4445, 4.9, 4.88},
    {750, 41.2705, 632.3888, 27.3603, 4.66, 4.69},
    {800, 41.4373, 639.9241, 27.0621, 5.09, 5.08},
    {850, 41.7826, 669.065, 27.2438, 4.79, 4.79},
    {900, 41.5747, 662.5728, 26.7287, 4.8, 4.81},
    {950, 41.1206, 637.3481, 26.4108, 4.43, 4.43},
    {1000, 41.3934, 653.3766, 26.5817, 4.26, 4.27},
}};

}  // namespace bpm_examples
