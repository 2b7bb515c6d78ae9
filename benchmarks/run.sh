#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds bpm_benchmarks for this machine, runs it, and makes one page of tables and plots:
#
#   ./benchmarks/run.sh [--filter RE] [--out FOLDER] [--compare OLD.json] [--repetitions N]
#
# --filter RE       only the benchmarks whose names this regular expression finds
# --out FOLDER      run.json and index.html go there (default: build/benchmark-page)
# --compare OLD     the page compares the run with this older run.json
# --repetitions N   of every benchmark, in random order (default: 5)
#
# All of them take many minutes: --filter chooses. Nothing else should run on the machine meanwhile.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# shellcheck source=cmake/packages.sh
source "$root/cmake/packages.sh"

usage() { sed -n '3,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

filter=. out="$root/build/benchmark-page" old='' repetitions=5
while [[ $# -gt 0 ]]; do
  case "$1" in
    -h | --help)
      usage
      exit 0
      ;;
    --filter | --out | --compare | --repetitions)
      if [[ $# -lt 2 || -z "$2" ]]; then
        say "run.sh: $1 needs a value"
        exit 2
      fi
      case "$1" in
        --filter) filter="$2" ;;
        --out) out="$2" ;;
        --compare) old="$2" ;;
        --repetitions) repetitions="$2" ;;
      esac
      shift 2
      ;;
    *)
      say "run.sh: unknown argument '$1'"
      usage >&2
      exit 2
      ;;
  esac
done
if ! [[ "$repetitions" =~ ^[1-9][0-9]{0,3}$ ]]; then
  say "run.sh: --repetitions is '$repetitions', must be a whole number from 1 to 9999"
  exit 2
fi
if [[ -n "$old" && ! -r "$old" ]]; then
  say "run.sh: --compare: '$old' cannot be read"
  exit 2
fi
mkdir -p "$out"

install_packages g++ cmake ninja-build libeigen3-dev libbenchmark-dev libdnnl-dev libcli11-dev \
  nlohmann-json3-dev zlib1g-dev gnuplot-nox

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
build() {
  (cd "$root" &&
    cmake --preset release -DBPM_BUILD_EXAMPLES=ON -DBPM_BUILD_BENCHMARKS=ON -DBPM_BUILD_TESTS=OFF \
      -DBPM_FAST_PROGRAMS=ON &&
    cmake --build --preset release --target bpm_benchmarks benchmark_page --parallel "$(nproc)")
}
say "Building the benchmarks (release, for this machine) ..."
if ! build >"$scratch/log" 2>&1; then
  cat "$scratch/log" >&2
  say "The build failed; see above."
  exit 1
fi

# In a place of its own until it is whole; --compare may name the file that it replaces.
"$root/build/release/benchmarks/bpm_benchmarks" "--benchmark_filter=$filter" \
  "--benchmark_repetitions=$repetitions" --benchmark_enable_random_interleaving=true \
  "--benchmark_out=$scratch/run.json" --benchmark_out_format=json
"$root/build/release/benchmarks/benchmark_page" "$scratch/run.json" ${old:+--compare "$old"} \
  --out "$out/index.html"
cp "$scratch/run.json" "$out/run.json.part"
mv "$out/run.json.part" "$out/run.json"
say "$out/index.html"
