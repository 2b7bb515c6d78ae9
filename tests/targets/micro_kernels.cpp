// SPDX-License-Identifier: MIT
// The micro-kernels as they are compiled for one of the targets in CMakeLists.txt: products of
// numbers and of bytes, and kernel values, against sums in 64-bit integers and double.
#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/lanes.hpp"
#include "bpm/core/random.hpp"
#include "bpm/core/row_products.hpp"
#include "bpm/kernel_values/blocks.hpp"
#include "bpm/kernel_values/byte_panels.hpp"
#include "bpm/kernel_values/number_panels.hpp"
#include "bpm/kernel_values/on_demand_gram.hpp"
#include "bpm/kernel_values/panels.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/samplers/perceptron/perceptron_state.hpp"

namespace {

using bpm::PointIndex;
using bpm::RowMatrix;

// That the options do select the branch that this program is for: of bytes and numbers, where the
// target has no instruction for them, all branches that the machine can run are tried.
static_assert(bpm::detail::register_bytes == BPM_EXPECTED_REGISTER_BYTES);
static_assert(bpm::detail::bytes_by_instruction == BPM_EXPECTED_BYTE_INSTRUCTION);

int failures = 0;

void check(bool holds, const char* what, long long size) {
  if (!holds) {
    std::printf("FAILED: %s, size %lld\n", what, size);
    ++failures;
  }
}

std::vector<PointIndex> first_points(std::ptrdiff_t count) {
  std::vector<PointIndex> points(static_cast<std::size_t>(count));
  std::iota(points.begin(), points.end(), 0);
  return points;
}

/// All values of a kernel on rows of x and columns of z, as one block and through packed columns,
/// which must be the same bits.
template <class Kernel, class I>
RowMatrix<bpm::detail::kernel_scalar_t<I>> values(const Kernel& kernel, const I& x, const I& z,
                                                  long long size) {
  using Scalar = bpm::detail::kernel_scalar_t<I>;
  const bpm::detail::PreparedInputs<I> left(x);
  const bpm::detail::PreparedInputs<I> right(z);
  const auto rows = first_points(x.rows());
  const auto cols = first_points(z.rows());
  bpm::detail::BlockScratch<Scalar> scratch;
  RowMatrix<Scalar> block(x.rows(), z.rows());
  bpm::detail::kernel_block(kernel, left, rows, right, cols, block.data(), block.cols(), scratch);
  bpm::detail::ReadyColumns<Scalar> columns;
  bpm::detail::make_ready(right, std::span<const PointIndex>(cols), true, columns);
  RowMatrix<Scalar> packed(x.rows(), z.rows());
  bpm::detail::kernel_block(kernel, left, rows, right, columns, 0, z.rows(), packed.data(),
                            packed.cols(), scratch);
  check(block == packed, "packed columns give the same bits", size);
  return block;
}

/// Random numbers, a share of them zero.
template <class T>
RowMatrix<T> numbers(Eigen::Index m, Eigen::Index d, std::uint64_t seed) {
  bpm::RandomEngine engine(seed);
  RowMatrix<T> result(m, d);
  for (auto& value : result.reshaped()) {
    const double x = 2 * bpm::uniform_unit(engine) - 1;
    value = static_cast<T>(bpm::uniform_below(engine, 3) == 0 ? 0 : x);
  }
  return result;
}

/// The product of two rows by hand: a chain of sums, each rounded once where the tiles fuse it with
/// a product, in parts, which are then added.
template <class T>
T chain(const RowMatrix<T>& x, Eigen::Index i, const RowMatrix<T>& z, Eigen::Index j,
        const bpm::detail::NumberTiles<T>& tiles) {
  const bool compiled = std::string_view(tiles.name) == "as compiled";
  T total = 0;
  for (Eigen::Index begin = 0; begin < x.cols(); begin += bpm::detail::longest_chain) {
    T sum = 0;
    for (Eigen::Index k = begin; k < std::min(x.cols(), begin + bpm::detail::longest_chain); ++k) {
      sum = compiled ? bpm::detail::multiply_add(x(i, k), z(j, k), sum)
                     : std::fma(x(i, k), z(j, k), sum);
    }
    total = begin == 0 ? sum : total + sum;
  }
  return total;
}

template <class T>
long count_unlike_chain(const RowMatrix<T>& products, const RowMatrix<T>& x, const RowMatrix<T>& z,
                        const bpm::detail::NumberTiles<T>& tiles) {
  long wrong = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < z.rows(); ++j) {
      wrong += products(i, j) != chain(x, i, z, j, tiles) ? 1 : 0;
    }
  }
  return wrong;
}

/// Inner products by these tiles.
template <class T>
RowMatrix<T> products_by(const bpm::detail::NumberTiles<T>& tiles, const RowMatrix<T>& x,
                         const RowMatrix<T>& z) {
  const auto rows = bpm::detail::row_pointers(x.data(), x.rows(), x.cols());
  const auto columns = bpm::detail::row_pointers(z.data(), z.rows(), z.cols());
  constexpr std::ptrdiff_t width = bpm::detail::panel_width<T>;
  bpm::detail::Buffer<T> panels(bpm::detail::panel_count<T>(z.rows()) * width * z.cols());
  for (std::ptrdiff_t first = 0; first < z.rows(); first += width) {
    bpm::detail::pack_panel<T>(columns.data() + first, std::min(width, z.rows() - first), z.cols(),
                               T{0}, panels.data() + first * z.cols());
  }
  RowMatrix<T> products(x.rows(), z.rows());
  bpm::detail::StepLists lists;
  bpm::detail::panel_products<T>(rows.data(), x.rows(), panels.data(), z.rows(), x.cols(),
                                 products.data(), z.rows(), lists, tiles);
  return products;
}

template <class T>
void check_numbers(double rounding) {
  for (const Eigen::Index d : {1, 5, 16, 21, 784, 1025, 2100}) {
    const RowMatrix<T> x = numbers<T>(9, d, 1);
    const RowMatrix<T> z = numbers<T>(131, d, 2);
    const RowMatrix<T> products = values(bpm::Polynomial(1, 1, 0), x, z, d);
    const long wrong = count_unlike_chain(products, x, z, bpm::detail::number_tiles<T>());
    check(wrong == 0, "products are chains of multiply-adds", d);
    for (const bpm::detail::NumberTiles<T>& tiles : bpm::detail::all_number_tiles<T>()) {
      check(count_unlike_chain(products_by(tiles, x, z), x, z, tiles) == 0, tiles.name, d);
      check(count_unlike_chain(products_by(tiles, x, x), x, x, tiles) == 0, tiles.name, d);
      long unlike = 0;
      for (Eigen::Index i = 0; i < std::min<Eigen::Index>(d, bpm::detail::longest_chain); ++i) {
        const RowMatrix<T> row = x.row(0).head(i);
        unlike += tiles.squares(row.data(), i) != chain(row, 0, row, 0, tiles) ? 1 : 0;
      }
      check(unlike == 0, "squared norms have the products' bits", d);
    }
    const Eigen::MatrixXd exact = x.template cast<double>() * z.template cast<double>().transpose();
    check((products.template cast<double>() - exact).cwiseAbs().maxCoeff() <=
              rounding * static_cast<double>(d),
          "products are right", d);
    const RowMatrix<T> all = values(bpm::Polynomial(3, 0.1), z, z, d);
    check(all == RowMatrix<T>(all.transpose()), "blocks are symmetric to the bit", d);
    const RowMatrix<T> part = values(bpm::Polynomial(3, 0.1), RowMatrix<T>(z.middleRows(50, 7)),
                                     RowMatrix<T>(z.middleRows(3, 70)), d);
    check(part == RowMatrix<T>(all.block(50, 3, 7, 70)), "bits do not depend on the place", d);
    const RowMatrix<T> distances = values(bpm::Laplacian(static_cast<double>(d)), x, z, d);
    Eigen::MatrixXd expected(9, 131);
    for (Eigen::Index i = 0; i < 9; ++i) {
      for (Eigen::Index j = 0; j < 131; ++j) {
        const double distance =
            (x.row(i).template cast<double>() - z.row(j).template cast<double>())
                .template lpNorm<1>();
        expected(i, j) = std::exp(-distance / static_cast<double>(d));
      }
    }
    check((distances.template cast<double>() - expected).cwiseAbs().maxCoeff() <= 30 * rounding,
          "distances are right", d);
  }
}

/// exp of a float as Eigen 3.4 makes it with fused multiply-adds, operation by operation: in
/// registers of AVX-512 the limits are narrower, log 2 is taken at once, and 2^m is one factor.
float fused_exp(float value, bool avx512) {
  if (std::isnan(value)) return value;
  const float limit = avx512 ? 88.3762626647950F : 88.723F;
  const float x = std::clamp(value, -limit, limit);
  const float m = std::floor(std::fma(x, 1.44269504088896341F, 0.5F));
  const float r = avx512 ? std::fma(m, -0.6931471805599453F, x)
                         : std::fma(m, 2.12194440e-4F, std::fma(m, -0.693359375F, x));
  const float square = r * r;
  const float high = std::fma(std::fma(1.9875691500e-4F, r, 1.3981999507e-3F), r, 8.3334519073e-3F);
  const float low = std::fma(std::fma(4.1665795894e-2F, r, 1.6666665459e-1F), r, 5.0000001201e-1F);
  const float y = std::fma(std::fma(high, square * r, low), square, r + 1);
  const int e = static_cast<int>(m);
  if (!avx512) return std::max(std::ldexp(y, e), value);
  // The factor is made of the bits of e + 127: at the ends zero, and infinity.
  const float factor = e == -127  ? 0.0F
                       : e == 128 ? std::numeric_limits<float>::infinity()
                                  : std::ldexp(1.0F, e);
  return std::max(y * factor, value);
}

/// Arguments of exp: dense from end to end, beyond both ends, around each place where something
/// changes, and what is no number.
std::vector<float> exponents() {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> result{0.0F,          -0.0F,  infinity, -infinity,
                            std::nanf(""), 1e-45F, -1e-38F,  1e38F};
  for (int i = -1'000'000; i <= 1'000'000; ++i) result.push_back(static_cast<float>(i) * 1e-4F);
  for (int m = -130; m <= 130; ++m) {
    float x = static_cast<float>(m - 0.5) * 0.6931471805599453F;
    for (int step = 0; step < 50; ++step) x = std::nextafter(x, -infinity);
    for (int step = 0; step < 100; ++step) result.push_back(x = std::nextafter(x, infinity));
  }
  for (const float end : {88.3762626647950F, -88.3762626647950F, 88.723F, -88.723F}) {
    result.insert(result.end(), {std::nextafter(end, 0.0F), end, std::nextafter(end, 2 * end)});
  }
  while (result.size() % 128 != 0) result.push_back(1);
  return result;
}

/// `found` are exponentials of `arguments`: the bits of `fused_exp`, and right to 4 units in the
/// last place within the range of floats' normal numbers.
[[maybe_unused]] void check_exponentials(const std::vector<float>& arguments,
                                         const std::vector<float>& found, bool avx512,
                                         const char* what) {
  long unlike = 0;
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const float expected = fused_exp(arguments[i], avx512);
    unlike += std::bit_cast<std::uint32_t>(found[i]) != std::bit_cast<std::uint32_t>(expected) &&
                      !(std::isnan(found[i]) && std::isnan(expected))
                  ? 1
                  : 0;
    if (std::abs(arguments[i]) > 87) continue;
    const double exact = std::exp(static_cast<double>(arguments[i]));
    largest = std::max(largest, std::abs(found[i] - exact) / exact);
  }
  check(unlike == 0, what, unlike);
  check(largest < 4 * std::ldexp(1.0, -23), "exponentials are right", -1);
}

/// Exponentials where programs choose instructions as they run, by each that the machine has, and
/// Eigen's where they are compiled for it: all the same bits.
void check_all_exponentials() {
  const std::vector<float> arguments = exponents();
  std::vector<float> found(arguments.size());
  const auto count = std::ssize(arguments);
#if defined(BPM_DETAIL_NUMBERS_AT_RUN_TIME)
  struct Way {
    const char* name;
    bool there;
    decltype(&bpm::detail::exponentials_avx2) compute;
  };
  const bool fuses = bpm::detail::machine_fuses();
  const bool wide = fuses && __builtin_cpu_supports("avx512f");
  std::vector<float> of_squares(arguments.size());
  const std::vector<float> ones(arguments.size(), 1.0F);
  for (const Way& way : {Way{"avx512", wide, bpm::detail::exponentials_avx512},
                         Way{"avx2", fuses, bpm::detail::exponentials_avx2}}) {
    std::printf("exponentials: %s%s\n", way.name, way.there ? "" : ", which this machine lacks");
    if (!way.there) continue;
    const bool avx512 = std::string_view(way.name) == "avx512";
    way.compute(found.data(), 1.0F, arguments.data(), nullptr, nullptr, count);
    check_exponentials(arguments, found, avx512, way.name);
    // exp(-0.1 max(1 + 1 - 2 v, 0)): NaN stays what it is, for the check of kernel values.
    std::vector<float> exponents_of(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const float square = 2.0F - 2.0F * arguments[i];
      exponents_of[i] = -0.1F * (square < 0 ? 0.0F : square);
    }
    way.compute(of_squares.data(), -0.1F, arguments.data(), ones.data(), ones.data(), count);
    long unlike = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool as_expected = std::isnan(arguments[i])
                                   ? std::isnan(of_squares[i])
                                   : of_squares[i] == fused_exp(exponents_of[i], avx512);
      unlike += as_expected ? 0 : 1;
    }
    check(unlike == 0, "exponentials of squared distances", unlike);
  }
#elif defined(__FMA__) && !EIGEN_VERSION_AT_LEAST(3, 4, 90) && !defined(BPM_PLAIN_ARRAYS)
  using Chunk = Eigen::Array<float, 128, 1>;
  for (std::ptrdiff_t i = 0; i < count; i += 128) {
    const Chunk chunk = Eigen::Map<const Chunk>(arguments.data() + i);
    Eigen::Map<Chunk>(found.data() + i) = chunk.exp();
  }
#if defined(__AVX512F__)
  check_exponentials(arguments, found, true, "Eigen's exp");
#else
  check_exponentials(arguments, found, false, "Eigen's exp");
#endif
#else
  static_cast<void>(found);
  static_cast<void>(count);
#endif
}

/// Loops over rows by the registers that the machine has: every length, every place.
void check_loops() {
  for (std::ptrdiff_t count = 1; count <= 100; ++count) {
    const RowMatrix<float> values = numbers<float>(1, count, 4);
    std::vector<double> sums(static_cast<std::size_t>(count) + 1, 0.25);
    bpm::detail::by_machine<bpm::detail::add_values<float>>(sums.data(), -1, values.data(), count);
    long unlike = sums.back() != 0.25 ? 1 : 0;
    for (std::ptrdiff_t j = 0; j < count; ++j) {
      unlike += sums[static_cast<std::size_t>(j)] != 0.25 - double{values(0, j)} ? 1 : 0;
    }
    check(unlike == 0, "rows are added", count);
    const std::vector<PointIndex> points = first_points(count);
    bpm::detail::check_kernel_row(values.data(), count, 0, points.data());
    for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), -1e33F}) {
      for (std::ptrdiff_t j = 0; j < count; ++j) {
        RowMatrix<float> row = values;
        row(0, j) = bad;
        std::string message;
        try {
          bpm::detail::check_kernel_row(row.data(), count, 7, points.data());
        } catch (const bpm::KernelValueError& error) {
          message = error.what();
        }
        check(message.starts_with("kernel: k(x_7, x_" + std::to_string(j) + ") is "),
              "a value out of range is found", j);
      }
    }
  }
}

#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)
/// Inner products by these tiles.
RowMatrix<float> products_by(const bpm::detail::ByteTiles& tiles,
                             const bpm::detail::PreparedInputs<RowMatrix<std::uint8_t>>& x,
                             const bpm::detail::PreparedInputs<RowMatrix<std::uint8_t>>& z) {
  using Unit = bpm::detail::ByteUnit;
  constexpr std::ptrdiff_t width = bpm::detail::panel_width<Unit>;
  std::vector<const Unit*> rows;
  std::vector<std::int64_t> sums;
  for (PointIndex i = 0; i < x.size(); ++i) {
    rows.push_back(x.row(i));
    sums.push_back(x.sum(i));
  }
  std::vector<const Unit*> columns;
  for (PointIndex j = 0; j < z.size(); ++j) columns.push_back(z.row(j));
  bpm::detail::Buffer<Unit> panels(bpm::detail::panel_count<Unit>(z.size()) * width * z.length());
  for (std::ptrdiff_t first = 0; first < z.size(); first += width) {
    bpm::detail::pack_panel<Unit>(columns.data() + first, std::min(width, z.size() - first),
                                  z.length(), tiles.flip, panels.data() + first * z.length());
  }
  RowMatrix<float> products(x.size(), z.size());
  bpm::detail::StepLists lists;
  bpm::detail::byte_products<float>(rows.data(), sums.data(), x.size(), panels.data(), z.size(),
                                    x.length(), products.data(), z.size(), lists, tiles);
  return products;
}
#endif

void check_bytes(const RowMatrix<std::uint8_t>& x, const RowMatrix<std::uint8_t>& z) {
  using Exact = RowMatrix<std::int64_t>;
  const Exact exact = x.cast<std::int64_t>() * Exact(z.cast<std::int64_t>()).transpose();
  const RowMatrix<float> expected = exact.cast<float>();
  check(values(bpm::Polynomial(1, 1, 0), x, z, x.cols()) == expected, "products of bytes are exact",
        x.cols());
#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)
  const bpm::detail::PreparedInputs<RowMatrix<std::uint8_t>> left(x);
  const bpm::detail::PreparedInputs<RowMatrix<std::uint8_t>> right(z);
  const RowMatrix<std::uint8_t> zeros = RowMatrix<std::uint8_t>::Zero(x.rows(), x.cols());
  const bpm::detail::PreparedInputs<RowMatrix<std::uint8_t>> none(zeros);
  for (const bpm::detail::ByteTiles& tiles : bpm::detail::all_byte_tiles()) {
    // Where one leaves a sum out, that of the tiles before it is not to stand there.
    check((products_by(bpm::detail::byte_tiles(), none, right).array() == 0).all(), "zeros",
          x.cols());
    check(products_by(tiles, left, right) == expected, tiles.name, x.cols());
  }
#endif
}

void check_all_bytes() {
  for (const Eigen::Index d : {1, 3, 4, 49, 64, 784, 32767, 32768, 32769, 70000}) {
    RowMatrix<std::uint8_t> x = RowMatrix<std::uint8_t>::Constant(6, d, 255);
    x.row(1).setConstant(128);
    x.row(5).setZero();
    RowMatrix<std::uint8_t> z = RowMatrix<std::uint8_t>::Constant(d < 1000 ? 150 : 5, d, 255);
    z.row(1).setConstant(127);
    z.row(2).setConstant(1);
    check_bytes(x, z);
    bpm::RandomEngine engine(3);
    for (auto* bytes : {&x, &z}) {
      for (auto& byte : bytes->reshaped()) {
        const bool zero = bpm::uniform_below(engine, 2) == 0;
        byte = static_cast<std::uint8_t>(zero ? 0 : bpm::uniform_below(engine, 256));
      }
    }
    check_bytes(x, z);
  }
  // Every number of columns up to a panel and more: a part's last one may stand alone.
  RowMatrix<std::uint8_t> x(6, 7);
  for (Eigen::Index i = 0; i < 6; ++i) x.row(i).setConstant(static_cast<std::uint8_t>(255 - i));
  for (Eigen::Index n = 1; n <= 70; ++n) check_bytes(x, RowMatrix<std::uint8_t>::Constant(n, 7, 3));
}

}  // namespace

int main() {
#if defined(BPM_DETAIL_BYTES_AT_RUN_TIME)
  const auto tiles = bpm::detail::all_byte_tiles();
  for (const bpm::detail::ByteTiles& one : tiles) std::printf("bytes: %s\n", one.name);
  check(!bpm::detail::bytes_by_instruction && std::string_view(tiles.back().name) == "as compiled",
        "what was compiled is always there, and comes last", std::ssize(tiles));
#endif
  const auto number_tiles = bpm::detail::all_number_tiles<float>();
  for (const auto& one : number_tiles) std::printf("numbers: %s\n", one.name);
  check(std::string_view(number_tiles.back().name) == "as compiled",
        "what was compiled is always there, and comes last", std::ssize(number_tiles));
  check_all_exponentials();
  check_loops();
  check_numbers<float>(1e-6);
  check_numbers<double>(1e-14);
  check_all_bytes();
  return failures == 0 ? 0 : 1;
}
