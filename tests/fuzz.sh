#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Feeds broken and made-up bytes to every reader, to models, draws and command lines, under the address and
# undefined-behaviour sanitizers (Clang).
#
#   ./tests/fuzz.sh MINUTES [CORPUS]   inputs up to 8 MiB; what is found new is kept in CORPUS or build/fuzz/found
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! [[ "${1:-}" =~ ^[0-9]+$ ]]; then
  sed -n '3,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
cmake --preset asan -B build/fuzz -DCMAKE_CXX_COMPILER="${CXX:-clang++-16}" -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" \
  -DBPM_BUILD_TESTS=ON
cmake --build build/fuzz --target bpm_fuzz
corpus="${2:-build/fuzz/found}"
mkdir -p "$corpus" build/fuzz/tmp
export TMPDIR="$PWD/build/fuzz/tmp" # for files of draws
# 256 MiB at once: twenty-four times the longest input and 64 MiB beside.
exec build/fuzz/tests/fuzz/bpm_fuzz -max_total_time=$(($1 * 60)) -max_len=8388608 -malloc_limit_mb=256 \
  -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 "$corpus" tests/fuzz/seeds
