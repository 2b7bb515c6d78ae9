#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What including the library costs: the time to compile `#include <bpm/bpm.hpp>` alone at -O0, over
# the time to compile Eigen/Dense and the standard headers that the library's headers include.
#
#   ./benchmarks/compile_time.sh [repetitions, default 9]     CXX and EIGEN_INCLUDE may be set
#
# The two are compiled in turn, so that both meet the same machine; medians are compared.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

repetitions="${1:-9}"
if [[ ! "$repetitions" =~ ^[1-9][0-9]*$ ]]; then
  sed -n '3,8s/^# \{0,1\}//p' benchmarks/compile_time.sh >&2
  [[ "$repetitions" == -h || "$repetitions" == --help ]] && exit 0
  exit 2
fi
compiler="${CXX:-g++}"
eigen="${EIGEN_INCLUDE:-/usr/include/eigen3}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

echo '#include <bpm/bpm.hpp>' >"$folder/library.cpp"
{
  echo '#include <Eigen/Dense>'
  # Of the headers that bpm.hpp reaches: not the ones with a dependency of their own.
  "$compiler" -std=c++20 -Iinclude -isystem "$eigen" -MM "$folder/library.cpp" |
    tr ' \\' '\n\n' | grep '^include/bpm/' |
    xargs grep -hoE '^#include <[a-z_]+>' | sort -u
} >"$folder/baseline.cpp"

# Milliseconds of processor time to compile a file; wall clock would measure the neighbours too.
measure() {
  local TIMEFORMAT='%U %S'
  { time "$compiler" -std=c++20 -O0 -Iinclude -isystem "$eigen" -c "$1" -o "$folder/out.o" 2>&3; } \
    3>&2 2>&1 | awk '{ print int(1000 * ($1 + $2)) }'
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

measure "$folder/baseline.cpp" >/dev/null # warms the file cache
measure "$folder/library.cpp" >/dev/null
for ((i = 0; i < repetitions; ++i)); do
  measure "$folder/baseline.cpp" >>"$folder/baseline"
  measure "$folder/library.cpp" >>"$folder/library"
done

library="$(median "$folder/library")"
baseline="$(median "$folder/baseline")"
echo "compiler                       $("$compiler" --version | head -1)"
echo "bpm/bpm.hpp                    $library ms"
echo "Eigen/Dense, standard headers  $baseline ms"
echo "ratio                          $(awk "BEGIN { printf \"%.2f\", $library / $baseline }")"
