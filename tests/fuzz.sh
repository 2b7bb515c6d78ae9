#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Feeds broken and made-up bytes to every reader, to models, trainings, draws and command lines, under the address and
# undefined-behaviour sanitizers (Clang).
#
#   ./tests/fuzz.sh MINUTES [TARGET...]   MINUTES for each of the targets in tests/fuzz/fuzz.cpp, or for the named ones
#
# Inputs are up to 8 MiB long. What is found new is kept in build/fuzz/found/TARGET, and so is the input of a
# crash, a leak, more than 20 s or more than 256 MiB at once. At the end a line for each target; 1 if one failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t all < <(sed -n 's/^ *Target{"\([a-z_]*\)",.*/\1/p' tests/fuzz/fuzz.cpp)
usage() {
  sed -n '3,9s/^# \{0,1\}//p' tests/fuzz.sh >&2
  echo "targets: ${all[*]}" >&2
  exit 2
}
[[ "${1:-}" =~ ^[1-9][0-9]*$ ]] || usage
minutes="$1"
shift
for target in "$@"; do
  [[ " ${all[*]} " == *" $target "* ]] || usage
done
(($# > 0)) || set -- "${all[@]}"

cmake --preset asan -B build/fuzz -DCMAKE_CXX_COMPILER="${CXX:-clang++-16}" -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" \
  -DBPM_BUILD_TESTS=ON
cmake --build build/fuzz --target bpm_fuzz
mkdir -p build/fuzz/tmp
export TMPDIR="$PWD/build/fuzz/tmp" # for files of draws

failed=0
lines=()
for target in "$@"; do
  corpus="build/fuzz/found/$target"
  log="$corpus.log"
  mkdir -p "$corpus"
  # 256 MiB at once: twenty-four times the longest input and 64 MiB beside.
  result=0
  BPM_FUZZ_TARGET="$target" build/fuzz/tests/fuzz/bpm_fuzz -max_total_time=$((minutes * 60)) -max_len=8388608 \
    -malloc_limit_mb=256 -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 -artifact_prefix="$corpus." \
    "$corpus" tests/fuzz/seeds 2>&1 | tee "$log" || result=1
  stat() { sed -n "s/^stat::$1: *//p" "$log"; }
  line="$target: $(stat number_of_executed_units) executions, $(stat peak_rss_mb) MiB, $(stat new_units_added) new inputs"
  if ((result)); then
    failed=1
    line+="; FAILED: $(grep -m1 -E '^(==[0-9]+== ?ERROR|SUMMARY|terminate)' "$log" || echo "see $log")"
  fi
  lines+=("$line")
done
printf '%s\n' "" "${lines[@]}"
exit "$failed"
