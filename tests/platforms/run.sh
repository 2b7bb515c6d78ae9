#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Other compilers, systems and architectures, as far as Debian's packages bring them here: compiles a few tests for
# each and runs them, under an emulator where need be. By hand: ./tests/platforms/run.sh [NAME...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=../../cmake/packages.sh
source ../cmake/packages.sh

# Name | Debian packages | compiler and its flags | what runs the program; what takes longest first.
platforms=(
  "s390x|g++-s390x-linux-gnu qemu-user-static|s390x-linux-gnu-g++ -static|qemu-s390x-static"
  "aarch64|g++-aarch64-linux-gnu qemu-user-static|aarch64-linux-gnu-g++ -static|qemu-aarch64-static"
  "aarch64, dotprod|g++-aarch64-linux-gnu qemu-user-static|aarch64-linux-gnu-g++ -march=armv8.2-a+dotprod -static|qemu-aarch64-static -cpu max"
  "mingw-w64|g++-mingw-w64-x86-64-posix wine64|x86_64-w64-mingw32-g++-posix -static -Wa,-mbig-obj|/usr/lib/wine/wine64"
  "libc++ 19|clang-19 libc++-19-dev libc++abi-19-dev|clang++-19 -stdlib=libc++|"
  "i686|g++-i686-linux-gnu|i686-linux-gnu-g++ -msse2 -mfpmath=sse -static|"
  "x86-64|g++|g++|"
  "x86-64, plain arrays|g++|g++ -DBPM_PLAIN_ARRAYS|"
)
sources=(support/main.cpp platforms/platform_test.cpp storage/model_file_format_1_test.cpp data/text_test.cpp)
build="$PWD/../build/tests/platforms"

# One platform: its output goes to its own file, its line is printed.
run_one() {
  local name packages compiler runner start=$SECONDS folder output
  IFS='|' read -r name packages compiler runner <<<"$1"
  folder="$build/${name//[^a-z0-9]/_}"
  output="$folder.txt"
  mkdir -p "$folder"
  local tool
  for tool in "${compiler%% *}" ${runner:+"${runner%% *}"}; do
    if ! command -v "$tool" >/dev/null; then
      printf '%-22s not run: there is no %s (Debian: %s)\n' "$name" "${tool##*/}" "$packages"
      return 1
    fi
  done
  local words run
  read -r -a words <<<"$compiler"
  read -r -a run <<<"$runner"
  # Relative, so that Windows programs find it too.
  if "${words[@]}" -std=c++20 -O1 -w "-DBPM_TEST_MODELS=\"data/models\"" -isystem "$build/include" -I../include -Isupport \
    "${sources[@]}" -o "$folder/tests.exe" -pthread >"$output" 2>&1 &&
    WINEDEBUG=-all WINEPREFIX="$build/wine" "${run[@]}" "$folder/tests.exe" >>"$output" 2>&1; then
    printf '%-22s %s, %d s\n' "$name" "$(tail -n 2 "$output" | tr -d '\r' | grep -v '^$')" $((SECONDS - start))
  else
    printf '%-22s FAILED: %s\n' "$name" "$output"
    return 1
  fi
}

if [[ "${1:-}" == --one ]]; then
  run_one "$2"
  exit
fi

chosen=()
for platform in "${platforms[@]}"; do
  name="${platform%%|*}"
  if [[ $# -eq 0 || " $* " == *" $name "* ]]; then chosen+=("$platform"); fi
done
if [[ ${#chosen[@]} -eq 0 || $# -gt ${#chosen[@]} ]]; then
  say "run.sh: the platforms are:$(printf '\n  %s' "${platforms[@]%%|*}")"
  exit 2
fi

packages=(libeigen3-dev nlohmann-json3-dev catch2)
for platform in "${chosen[@]}"; do
  IFS='|' read -r _ needed _ <<<"$platform"
  read -r -a needed <<<"$needed"
  packages+=("${needed[@]}")
done
read -r -a packages <<<"$(printf '%s\n' "${packages[@]}" | sort -u | tr '\n' ' ')"
(install_packages "${packages[@]}") || say "What is missing is named below."

if [[ ! -e /usr/include/catch2/catch.hpp ]]; then
  say "run.sh: the platforms' programs take Catch2 2, a header alone (Debian 12: catch2); it is not in /usr/include"
  exit 1
fi

# What all of them include, without the other headers of this system.
mkdir -p "$build/include"
ln -sfn /usr/include/eigen3/Eigen "$build/include/Eigen"
ln -sfn /usr/include/nlohmann "$build/include/nlohmann"
ln -sfn /usr/include/catch2 "$build/include/catch2"

# Several at a time, in order of their ends; the exit code is that of all.
printf '%s\0' "${chosen[@]}" | xargs -0 -n 1 -P "$(nproc)" platforms/run.sh --one && status=0 || status=1
[[ $status -eq 0 ]] && echo "All platforms passed." || echo "Not all platforms passed."
exit "$status"
