// SPDX-License-Identifier: MIT
// The bodies of what headers only declare for those who link bpm::compiled: functions that need no
// argument of a template, and readers of float and double.
#define BPM_COMPILING
#include "bpm/bpm.hpp"
#include "bpm/data.hpp"

#include <Eigen/SparseCore>
#include <cstddef>
#include <istream>
#include <string_view>
#include <utility>

#define BPM_READERS(T)                                                                     \
  template LabelledData<RowMatrix<T>> read_table(std::istream&, std::string_view,          \
                                                 const TableSettings&);                    \
  template LabelledData<RowMatrix<T>> read_svmlight_dense(std::istream&, std::string_view, \
                                                          Eigen::Index, std::size_t);      \
  template LabelledData<Eigen::SparseMatrix<T, Eigen::RowMajor>> read_svmlight_sparse(     \
      std::istream&, std::string_view, Eigen::Index);

namespace bpm { inline namespace BPM_TARGET {

BPM_READERS(float)
BPM_READERS(double)

template std::pair<double, double> detail::extreme_eigenvalues(const RowMatrix<float>&);
template std::pair<double, double> detail::extreme_eigenvalues(const RowMatrix<double>&);

}}  // namespace bpm
