#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each header compiles alone, without warnings: the compiler reads each by itself, behind Eigen, which is precompiled
# once. (A unit of its own for each, Eigen and all, costs six times as much.)
#   ./tests/static/headers_alone.sh COMPILER EIGEN_FOLDER [INCLUDE_FOLDER...]
# Headers of optional parts are read where the folders given hold what they need.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

flags=("$1" -std=c++20 -Iinclude -isystem "$2" -Wall -Wextra -Wpedantic -Wfloat-conversion -Wshadow -Werror)
shift 2
for folder in "$@"; do flags+=(-isystem "$folder"); done

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
echo '#include <Eigen/Dense>' >"$scratch/eigen.hpp"
"${flags[@]}" -x c++-header "$scratch/eigen.hpp" -o "$scratch/eigen.hpp.gch"

headers=()
while read -r header; do
  needed="$(grep -ohE '^#include <(mpi|zlib|nlopt|nlohmann/json)\.h(pp)?>' "$header" || true)"
  if [[ -n "$needed" ]] && ! "${flags[@]}" -fsyntax-only -x c++ - <<<"$needed" 2>/dev/null; then
    echo "Left out: $header: no ${needed#\#include }"
    continue
  fi
  echo "#include \"${header#include/}\"" >"$scratch/${#headers[@]}.cpp"
  headers+=("$header")
done < <(find include/bpm -name '*.hpp' | sort)

failed=0
for i in "${!headers[@]}"; do
  if ! "${flags[@]}" -include "$scratch/eigen.hpp" -fsyntax-only "$scratch/$i.cpp"; then
    echo "FAILED alone: ${headers[$i]}"
    failed=1
  fi
done
echo "${#headers[@]} headers read alone"
exit $failed
