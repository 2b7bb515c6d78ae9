#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Proves that the library works here, in a quarter of an hour on two cores: formatting, the library's tests by GCC with
# warnings as errors, each header alone, the rules of tests/static, README's and the tutorial's programs, a consumer of the
# installed package, mnist, and the core's tests by Clang with the address and undefined-behaviour sanitizers. All of it
# below build/tests. Missing packages of Debian and Ubuntu are installed. Ends with ctest's closing line.
#
#   ./tests/run.sh
#
# Tests that need the real data find it by BPM_DATA_DIR and are shown as skipped without it. tests/all.sh runs the rest.
set -euo pipefail
# shellcheck source=tests/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

install_packages "${packages[@]}"

check_format() {
  find include tests examples benchmarks -name '*.[ch]pp' | xargs -r "clang-format-$clang" --dry-run --Werror
}

if command -v "clang-format-$clang" >/dev/null; then
  step "clang-format-$clang" check_format
else
  echo "No clang-format-$clang: formatting is not checked"
fi

configure gcc -DBPM_BUILD_EXAMPLES=ON -DBPM_BUILD_BENCHMARKS=OFF -DBPM_PYTHON=OFF
build gcc bpm_short_tests
run_tests gcc -L '^short$'

configure asan "-DCMAKE_CXX_COMPILER=clang++-$clang"
build asan "${core[@]/#/bpm_test_}"
UBSAN_OPTIONS=print_stacktrace=1 run_tests asan -L "$core_labels"

report
./tests/static/budget.sh time g++ "$(eigen_folder)" "$processor"
echo "$closing_line"
