#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each header compiles alone, without warnings: it finds what it needs in what it includes.
#   ./tests/static/headers_alone.sh COMPILER EIGEN_FOLDER [INCLUDE_FOLDER...]
# Headers of optional parts are read where the folders given hold what they need. With ONLY="mpi.h nlopt.h" those are
# read that include one of these, themselves or by others.
#
# One unit reads a chain of headers, each of which includes the one before: what a header finds there, it would find
# alone. Some 40 units read all headers so, behind Eigen, which is precompiled once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

flags=("$1" -std=c++20 -Iinclude -isystem "$2" -Wall -Wextra -Wpedantic -Wfloat-conversion -Wshadow -Werror)
shift 2
for folder in "$@"; do flags+=(-isystem "$folder"); done

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
echo '#include <Eigen/Dense>' >"$scratch/eigen.hpp"
"${flags[@]}" -x c++-header "$scratch/eigen.hpp" -o "$scratch/eigen.hpp.gch"

find include/bpm -name '*.hpp' | sort >"$scratch/all"

# including HEADER...: our headers that include one of these of others, themselves or by ours.
including() {
  local found=("${@/#/<}")
  found=("${found[@]/%/>}")
  : >"$scratch/found"
  while [[ $# -gt 0 && ${#found[@]} -gt 0 ]]; do
    printf '#include %s\n' "${found[@]}" >"$scratch/patterns"
    grep -vxFf "$scratch/found" "$scratch/all" | xargs grep -lFf "$scratch/patterns" >"$scratch/more" || true
    cat "$scratch/more" >>"$scratch/found"
    mapfile -t found < <(sed 's|^include/\(.*\)|"\1"|' "$scratch/more")
  done
  cat "$scratch/found"
}

lacking=()
for needed in mpi.h zlib.h nlopt.h nlohmann/json.hpp; do
  if ! "${flags[@]}" -fsyntax-only -x c++ - <<<"#include <$needed>" 2>/dev/null; then lacking+=("$needed"); fi
done
including ${lacking[0]:+"${lacking[@]}"} >"$scratch/left_out"
if [[ ${#lacking[@]} -gt 0 ]]; then
  echo "Left out, as ${lacking[*]} could not be included: $(tr '\n' ' ' <"$scratch/left_out")"
fi
if [[ -n "${ONLY:-}" ]]; then
  read -r -a only <<<"$ONLY"
  including "${only[@]}" >"$scratch/headers"
else
  cp "$scratch/all" "$scratch/headers"
fi

# Of each header that can be read a line with its name, and one with its name and another's for each that it includes.
grep -vxFf "$scratch/left_out" "$scratch/headers" | while read -r header; do
  name="${header#include/}"
  { echo "$name" && sed -n "s|^#include \"\\(.*\\)\"|$name \\1|p" "$header"; } >>"$scratch/includes"
done

awk -f tests/static/chains.awk "$scratch/includes" >"$scratch/chains"
failed=0
while read -r -a chain; do
  printf '#include "%s"\n' "${chain[@]}" >"$scratch/chain.cpp"
  if ! "${flags[@]}" -include "$scratch/eigen.hpp" -fsyntax-only "$scratch/chain.cpp"; then
    echo "FAILED alone, one of: ${chain[*]}"
    failed=1
  fi
done <"$scratch/chains"
echo "$(wc -w <"$scratch/chains") headers read alone, in $(wc -l <"$scratch/chains") units"
exit $failed
