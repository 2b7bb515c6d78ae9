# SPDX-License-Identifier: MIT
# Sourced by tests/run.sh and tests/all.sh: the steps of a run of the tests, and what they took.
# shellcheck shell=bash

# The scripts take no arguments: any shows what they do, by the comment on top.
if [[ $# -gt 0 ]]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0" >&2
  [[ "$1" == -h || "$1" == --help ]] && exit 0
  exit 2
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/packages.sh
source cmake/packages.sh

jobs="$(nproc)"
logs="$(mktemp -d)"
trap 'rm -rf "$logs"' EXIT
prefix=()  # a command in front of what builds and runs
# GCC looks for memory to use again from 1 GB on, not from 256 MB: else that is a fifth of its time.
gcc_flags="${CXXFLAGS:+$CXXFLAGS }--param=ggc-min-heapsize=524288"

# Prints the first version of Clang all of whose packages are installed or can be: Debian 12 has a Clang 15 without its
# sanitizers, say. 16 comes first: its formatting is the one that is checked.
find_clang() {
  local version names
  for version in 16 15 17 18 19 20 21; do
    mapfile -t names < <(clang_packages "$version")
    if command -v apt-get >/dev/null; then
      apt-get --simulate install "${names[@]}" &>/dev/null || continue
    else
      command -v "clang++-$version" >/dev/null || continue
    fi
    echo "$version"
    return 0
  done
  return 1
}

# What the core's tests under the sanitizers need; with the formatting that all of them are checked by.
clang_packages() {  # clang_packages VERSION
  printf '%s\n' "clang-format-$1" "clang-$1" "libclang-rt-$1-dev"
}

packages=(g++ cmake ninja-build libeigen3-dev catch2 libcli11-dev nlohmann-json3-dev zlib1g-dev libssl-dev)
clang="$(find_clang || echo 16)"
mapfile -t -O "${#packages[@]}" packages < <(clang_packages "$clang")

# The core, whose tests tests/run.sh runs under the address sanitizer: programs of the tests without bpm_test_, which are
# their tests' labels.
core=(core kernel_values samplers_perceptron storage_models)
core_labels="^($(IFS='|' && echo "${core[*]}"))\$"

# step TITLE COMMAND...: runs a command quietly; its output is shown if it fails.
step() {
  local title="$1" start=$SECONDS
  shift
  if ! "$@" >"$logs/step" 2>&1; then
    cat "$logs/step"
    echo "FAILED: $title"
    exit 1
  fi
  printf '%-60s %4d s\n' "$title" $((SECONDS - start))
}

# Several files are compiled as one, as most of the time goes into what all of them include, and as many as take no more
# than some 1.6 GB. With ccache, where it is, what has not changed is not compiled again.
configure() {  # configure PRESET OPTION...
  local options=(-DBPM_WARNINGS_AS_ERRORS=ON -DBPM_BUILD_TESTS=ON -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8)
  [[ "$1" == asan ]] || options+=("-DCMAKE_CXX_FLAGS=$gcc_flags")
  if command -v ccache >/dev/null; then
    export CCACHE_SLOPPINESS=pch_defines,time_macros
    options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  step "$1: configure" cmake --preset "$1" "${options[@]}" "${@:2}"
}

# Builds targets, and keeps what each compile took: KIND SECONDS NAME.
build() {  # build PRESET TARGET...
  local ninja_log="build/tests/$1/.ninja_log"
  sort "$ninja_log" >"$logs/before" 2>/dev/null || true
  step "$1: build ${*:2}" "${prefix[@]}" cmake --build --preset "$1" --parallel "$jobs" --target "${@:2}"
  sort "$ninja_log" | comm -13 "$logs/before" - | awk -v preset="$1" -F '\t' \
    'NF == 5 && $4 ~ /\.(o|gch|pch)$/ { printf "compile %.1f %s: %s\n", ($2 - $1) / 1000, preset, $4 }' >>"$logs/times"
}

# Runs tests, keeps what each took, and leaves ctest's closing line in $closing_line.
run_tests() {  # run_tests PRESET CTEST_OPTION...
  [[ "$1" == asan ]] || local -x CXXFLAGS="$gcc_flags"  # of what tests build
  step "$1: run the tests" "${prefix[@]}" ctest --preset "$1" --parallel "$jobs" "${@:2}"
  sed -n '/% tests passed/,$p' "$logs/step" | grep -v '^$' | sed 's/^/    /'
  closing_line="$(grep '% tests passed' "$logs/step")"
  sed -nE "s/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: (.*[^ .]) \.*.* ([0-9.]+) sec\$/run \2 $1: \1/p" "$logs/step" >>"$logs/times"
}

# What the sanitizers of PRESET leave out, and why: areas and files by reason.
print_left_out() {
  echo "    left out (tests/left_out.cmake):"
  awk -F ': ' 'NF > 1 { n = index($0, ": "); why = substr($0, n + 2); files[why] = files[why] " " $1 }
    END { for (why in files) print "     " why ":" files[why] }' "build/tests/$1/tests/left_out.txt" | sort | fold -s -w 110
}

# What took longest, and all of it: leaves the processor's seconds in $processor.
report() {
  local kind
  touch "$logs/times"
  for kind in compile run; do
    printf 'The ten dearest to %s, of %s s:\n' "$kind" \
      "$(awk -v kind=$kind '$1 == kind { sum += $2 } END { printf "%.0f", sum }' "$logs/times")"
    sed -n "s/^$kind //p" "$logs/times" | sort -rn | sed -n 1,10p | sed -E 's/^([0-9.]+) (.*)/    \1 s  \2/'
  done
  times >"$logs/processor"  # of this shell, and of what it ran
  processor="$(awk '{ for (i = 1; i <= 2; ++i) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } }
    END { printf "%.0f", sum }' "$logs/processor")"
  echo "All of it took $SECONDS s, $processor s of processor time."
}

# The folder of Eigen's headers.
eigen_folder() {
  local dense
  dense="$(find /usr/include /usr/local/include -path '*/Eigen/Dense' -print -quit 2>/dev/null)"
  echo "${dense%/Eigen/Dense}"
}
