#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares the models of this working tree with those of COMMIT: both are built here, with one compiler and the same
# flags, and their programs run at the same small settings and seeds.
#   - kernel values, perceptrons, billiard, Gibbs: the same bits, as mnist's digest of a model and the programs'
#     whole output tell;
#   - expectation propagation, orthants, bounds: numbers equal to 1e-9 relative.
# What a wall clock decides is left out, and a key that one of the two does not write is named, not compared.
#
#   ./tests/compare.sh COMMIT [--jobs N] [PROGRAM...]      programs: see `cases` below; default: all
#
# Needs python3. Takes some minutes a program to build. Everything lies in build/compare/COMMIT.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $# -eq 0 || "$1" == -h || "$1" == --help ]]; then
  sed -n '3,12s/^# \{0,1\}//p' tests/compare.sh
  [[ $# -gt 0 ]] && exit 0
  exit 2
fi
commit="$(git rev-parse --verify --short "$1^{commit}")"
shift
jobs="$(nproc)"
if [[ "${1:-}" == --jobs ]]; then
  jobs="$2"
  shift 2
fi
command -v python3 >/dev/null || { echo "compare.sh: python3 was not found" >&2; exit 2; }

# PROGRAM|TOLERANCE|OPTIONS: a tolerance of 0 asks for the same bits.
small='--train 1500 --test 500 --threads 2'
cases="
mnist|0|$small
mnist|0|$small --input float
mnist|0|$small --memory 24M
mnist|0|$small --input float --memory 24M --kernel gaussian
mnist|0|$small --kernel arc-cosine --lambda-relative 0.1
mnist|0|--train 1500 --test 500 --kernel gaussian --normalise --threads 1
mnist|0|--train 300 --test 200 --sampler billiard --draws 20
mnist|0|--train 300 --test 200 --sampler billiard --draws 20 --lambda 1 --threads 1
mnist|0|--train 300 --test 200 --sampler gibbs --draws 20
mnist|0|--train 300 --test 200 --sampler gibbs --draws 20 --kernel gaussian
robust_bpm|0|--datasets heart,thyroid,sonar --splits 2 --bounces 100
version_space_samplers|0|--samples 100 --steps 200
label_noise|1e-9|--splits 1 --evidence 1 --train 60 --steps 500 --evidence-steps 300
networks|1e-9|--sizes 30 --voters 5 --test 200
kernel_interpolation|1e-9|--sizes 50 --voters 500 --test 200 --bounces 5000
bpm_convergence|0|--tables 1,2 --bounces 500 --splits 1
"

folder="build/compare/$commit"
mkdir -p "$folder"
if [[ ! -d "$folder/source" ]]; then
  git worktree prune
  git worktree add --detach "$folder/source" "$commit" >/dev/null
fi
trap 'git worktree remove --force "$folder/source"' EXIT

wanted=("$@")
if [[ ${#wanted[@]} -eq 0 ]]; then
  mapfile -t wanted < <(sed -n 's/|.*//p' <<<"$cases" | sort -u)
fi

build() {  # build SOURCE FOLDER
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBPM_NATIVE=ON -DBPM_BUILD_TESTS=OFF \
    -DBPM_BUILD_BENCHMARKS=OFF "-DCMAKE_CXX_COMPILER=${CXX:-g++}" \
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-}" >"$2.log" 2>&1 &&
    cmake --build "$2" --parallel "$jobs" --target "${wanted[@]}" >>"$2.log" 2>&1 || {
    tail -n 40 "$2.log" >&2
    echo "compare.sh: $1 could not be built; see $2.log" >&2
    exit 1
  }
}
build "$folder/source" "$PWD/$folder/before"
build . "$PWD/$folder/after"

failed=0
number=0
while IFS='|' read -r program tolerance options; do
  [[ -n "$program" && " ${wanted[*]} " == *" $program "* ]] || continue
  number=$((number + 1))
  for side in before after; do
    read -r -a words <<<"$options"
    json="$folder/$number.$side.json"
    rm -f "$json"
    if ! "$folder/$side/examples/$program" "${words[@]}" --quiet --json "$json" 2>"$json.log"; then
      head -n 3 "$json.log" | sed "s/^/$program ($side): /" >&2
    fi
  done
  printf '%-24s %s: ' "$program" "$options"
  if [[ ! -s "$folder/$number.before.json" && ! -s "$folder/$number.after.json" ]]; then
    echo "neither of them ran"
    failed=1
  elif ! python3 tests/compare_json.py "$tolerance" "$folder/$number".{before,after}.json; then
    failed=1
  fi
done <<<"$cases"
[[ $failed -eq 0 ]] && echo "The same as $commit"
exit $failed
