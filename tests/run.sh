#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs all tests with warnings as errors: Clang with the address and undefined-behaviour
# sanitizers, GCC with the thread sanitizer, GCC optimised; each header alone; the package from outside;
# formatting and clang-tidy. All of it below build/tests. Ends with ctest's closing line.
#
#   ./tests/run.sh           everything
#   ./tests/run.sh --quick   formatting and the GCC build only
#   ./tests/run.sh --platforms [NAME...]   other compilers, systems and architectures: docs/platforms.md
#
# Tests that need the real data find it by BPM_DATA_DIR and are shown as skipped without it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=cmake/packages.sh
source cmake/packages.sh

quick=no
while [[ $# -gt 0 ]]; do
  case "$1" in
    --quick) quick=yes ;;
    --platforms) exec ./tests/platforms/run.sh "${@:2}" ;;
    *)
      sed -n '3,11s/^# \{0,1\}//p' tests/run.sh >&2
      [[ "$1" == -h || "$1" == --help ]] && exit 0
      exit 2
      ;;
  esac
  shift
done

jobs="$(nproc)"
logs="$(mktemp -d)"
trap 'rm -rf "$logs"' EXIT

# --- Tools -----------------------------------------------------------------------------------------

clang_packages() {  # clang_packages VERSION
  echo "clang-format-$1"
  if [[ $quick == no ]]; then
    printf '%s\n' "clang-$1" "clang-tidy-$1" "libclang-rt-$1-dev"
  fi
}

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

packages=(g++ cmake ninja-build libeigen3-dev catch2 libcli11-dev nlohmann-json3-dev zlib1g-dev
  libssl-dev libsvm-dev libnlopt-dev libbenchmark-dev libopenmpi-dev openmpi-bin gnuplot-nox pkgconf dpkg-dev lintian
  python3-dev python3-build python3-pandas python3-pytest python3-setuptools python3-sklearn python3-venv python3-wheel
  pybind11-dev)
clang="$(find_clang || echo 16)"
mapfile -t -O "${#packages[@]}" packages < <(clang_packages "$clang")
if [[ $quick == no ]]; then
  # Debian holds one version of libomp at a time; whichever is there stays. Without the right one
  # Clang's build leaves out the OpenMP test, which GCC's build runs.
  if ! compgen -G '/usr/lib/llvm-*/lib/libomp.so' >/dev/null; then
    packages+=("libomp-$clang-dev")
  fi
fi
install_packages "${packages[@]}"
# The site and its page; where these cannot be had its tests are left out, and configuring says so.
./docs/site.sh --install || true
(install_packages chromium) || true

# --- Steps -----------------------------------------------------------------------------------------

# step TITLE COMMAND...: runs a command quietly; its output is shown if it fails.
step() {
  local title="$1" start=$SECONDS
  shift
  if ! "$@" >"$logs/step" 2>&1; then
    cat "$logs/step"
    echo "FAILED: $title"
    exit 1
  fi
  printf '%-52s %4d s\n' "$title" $((SECONDS - start))
}

# Several files are compiled as one, as most of the time goes into what all of them include. Where GCC compiles, it
# seldom looks for memory that it could give back: 14 % less of it at -O0, for about a gigabyte a job.
configure() {  # configure PRESET OPTION...
  local options=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16)
  if [[ "$1" != asan ]]; then
    options+=("-DCMAKE_CXX_FLAGS=${CXXFLAGS:-} --param ggc-min-heapsize=1000000 --param ggc-min-expand=200")
  fi
  step "$1: configure" cmake --preset "$1" -DBPM_WARNINGS_AS_ERRORS=ON -DBPM_BUILD_TESTS=ON "${options[@]}" "${@:2}"
}

build() {  # build PRESET TARGET...
  step "$1: build ${*:2}" "${prefix[@]}" cmake --build --preset "$1" --parallel "$jobs" \
    ${2:+--target "${@:2}"}
}

run_tests() {  # run_tests PRESET: also leaves ctest's closing line in $closing_line
  step "$1: run the tests" "${prefix[@]}" ctest --preset "$1" --parallel "$jobs"
  sed -n '/% tests passed/,$p' "$logs/step" | grep -v '^$' | sed 's/^/    /'
  closing_line="$(grep '% tests passed' "$logs/step")"
}

check_format() {
  find include tests examples benchmarks -name '*.[ch]pp' |
    xargs -r "clang-format-$clang" --dry-run --Werror
}

# All headers, and the smallest program; all programs take minutes.
check_tidy() {
  printf '%s\n' tests/package/two_units/first.cpp examples/strings.cpp |
    xargs -I '{}' -P "$jobs" "clang-tidy-$clang" --quiet '{}' -- -std=c++20 -Iinclude -isystem "$eigen" -march=native
}

eigen="$(dirname "$(find /usr/include /usr/local/include -path '*/Eigen/Dense' -print -quit 2>/dev/null)")"
eigen="${eigen%/Eigen}"

prefix=()
if command -v "clang-format-$clang" >/dev/null; then
  step "clang-format-$clang" check_format
else
  echo "No clang-format-$clang: formatting is not checked"
fi

# What the sanitizers of PRESET leave out, and why: areas and files by reason.
print_left_out() {
  echo "    left out (tests/left_out.cmake):"
  awk -F ': ' 'NF > 1 { n = index($0, ": "); why = substr($0, n + 2); files[why] = files[why] " " $1 }
    END { for (why in files) print "     " why ":" files[why] }' "build/tests/$1/tests/left_out.txt" | sort | fold -s -w 110
}

if [[ $quick == no ]]; then
  configure asan "-DCMAKE_CXX_COMPILER=clang++-$clang"
  print_left_out asan
  build asan bpm_test_programs
  UBSAN_OPTIONS=print_stacktrace=1 run_tests asan
  step "clang-tidy-$clang" check_tidy

  configure tsan -DCMAKE_CXX_COMPILER=g++
  print_left_out tsan
  # The thread sanitizer of older compilers cannot live with much address space randomisation.
  if setarch "$(uname -m)" -R true 2>/dev/null; then
    prefix=(setarch "$(uname -m)" -R)
  fi
  build tsan bpm_test_programs
  run_tests tsan
  prefix=()
fi

# The programs and what the documentation shows are compiled here alone.
# (The system's Python is the one that has its packages.)
configure gcc -DBPM_BUILD_EXAMPLES=ON -DBPM_BUILD_BENCHMARKS=ON -DBPM_PYTHON=ON -DPython3_EXECUTABLE=/usr/bin/python3
build gcc all
run_tests gcc

times >"$logs/times" # of this shell, then of what it ran
awk -v wall="$SECONDS" 'NR == 2 { for (i = 1; i <= 2; ++i) { split($i, part, /[ms]/); seconds += 60 * part[1] + part[2] } }
  END { printf "All of it took %d s, %.0f s of processor time.\n", wall, seconds }' "$logs/times"
echo "$closing_line"
