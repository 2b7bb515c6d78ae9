#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What tests/run.sh leaves out, before a release: all areas by Clang's address and undefined-behaviour sanitizers and by
# GCC's thread sanitizer, clang-tidy, fuzzing, instruction sets, all consumers of the package, Debian's packages, Python,
# MPI, the experiments, the documents' tables, the site. Ends with ctest's closing line. (Not a fresh machine: tests/fresh.sh.)
#
#   ./tests/run.sh && ./tests/all.sh
#
# It goes on in the same folders below build/tests, and installs what is missing (Debian and Ubuntu).
set -euo pipefail
# shellcheck source=tests/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

packages+=("clang-tidy-$clang" libsvm-dev libnlopt-dev libbenchmark-dev libopenmpi-dev openmpi-bin gnuplot-nox pkgconf dpkg-dev
  lintian python3-dev python3-build python3-pandas python3-pytest python3-setuptools python3-sklearn python3-venv python3-wheel
  pybind11-dev)
# Debian holds one version of libomp at a time; whichever is there stays. Without the right one Clang's build leaves out
# the OpenMP test, which GCC's build runs.
if ! compgen -G '/usr/lib/llvm-*/lib/libomp.so' >/dev/null; then
  packages+=("libomp-$clang-dev")
fi
install_packages "${packages[@]}"
# The site and its page; where these cannot be had its tests are left out, and configuring says so.
./docs/site.sh --install || true
(install_packages chromium) || true

# All headers, and the smallest program; all programs take minutes.
check_tidy() {
  printf '%s\n' tests/package/two_units/first.cpp examples/strings.cpp |
    xargs -I '{}' -P "$jobs" "clang-tidy-$clang" --quiet '{}' -- -std=c++20 -Iinclude -isystem "$(eigen_folder)" -march=native
}

# The programs, and what the documentation shows.
# (The system's Python is the one that has its packages.)
configure gcc -DBPM_BUILD_EXAMPLES=ON -DBPM_BUILD_BENCHMARKS=ON -DBPM_PYTHON=ON -DPython3_EXECUTABLE=/usr/bin/python3
build gcc all
run_tests gcc -L '^examples_mnist$'  # again, as it plots where gnuplot is
run_tests gcc -LE '^short$'

configure asan "-DCMAKE_CXX_COMPILER=clang++-$clang"
print_left_out asan
build asan bpm_test_programs
UBSAN_OPTIONS=print_stacktrace=1 run_tests asan -LE "$core_labels"
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

report
echo "$closing_line"
