#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the program `mnist` and runs it with the given arguments:
#
#   ./examples/run.sh --train 10000 --json result.json
#
# The digits come from --data, else BPM_DATA_DIR, else a cache folder, else the network (once). With
# none of these the program draws digits of its own. BPM_NO_DOWNLOAD=1 keeps off the network. Where nothing can be
# written beside the sources, the program is built in the cache folder.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# shellcheck source=cmake/packages.sh
source "$root/cmake/packages.sh"

# A user who cannot install may have all that is needed in other places: then CMake names what is not there.
(install_packages g++ cmake ninja-build libeigen3-dev libcli11-dev nlohmann-json3-dev zlib1g-dev) ||
  { command -v cmake >/dev/null && say "Going on with what is here"; } || exit 1
for package in libssl-dev gnuplot-nox; do  # For the model's digest, and for --plot.
  (install_packages "$package") || true
done

# --- Build -----------------------------------------------------------------------------------------

cache="${XDG_CACHE_HOME:-${HOME:-$root/build}/.cache}/bpm"
build="$root/build/release"
[[ -w "$root" ]] || build="$cache/build/release"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
build() {
  (cd "$root" &&
    cmake --preset release -B "$build" -DBPM_BUILD_EXAMPLES=ON -DBPM_BUILD_TESTS=OFF -DBPM_BUILD_BENCHMARKS=OFF \
      -DBPM_PYTHON=OFF -DBPM_FAST_PROGRAMS=ON &&
    cmake --build "$build" --target mnist --parallel "$(nproc)")
}
say "Building examples/mnist (release, for this machine) ..."
if ! build >"$log" 2>&1; then
  cat "$log" >&2
  say "The build failed; see above."
  exit 1
fi

# --- The digits ------------------------------------------------------------------------------------

files=(train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte)
sums=(f68b3c2dcbeaaa9fbdd348bbdeb94873 d53e105ee54ea40749a09fcbcd1e9432
  9fb629c4189551a2d022fa330f9573f3 ec29112dd5afa0611ce80d1b7f02629c)
mirrors=(https://ossci-datasets.s3.amazonaws.com/mnist https://storage.googleapis.com/cvdf-datasets/mnist)

# Whether a folder, or mnist/ in it, holds the four files, packed or not.
has_digits() {
  local folder file
  for folder in "$1" "$1/mnist"; do
    for file in "${files[@]}"; do
      [[ -f "$folder/$file" || -f "$folder/$file.gz" ]] || continue 2
    done
    return 0
  done
  return 1
}

fetch() {  # fetch URL FILE
  if command -v curl >/dev/null; then
    curl --fail --silent --location --connect-timeout 5 --max-time 120 --output "$2" "$1"
  elif command -v wget >/dev/null; then
    timeout 120 wget --quiet --timeout=5 --tries=1 --output-document="$2" "$1"
  else
    return 1
  fi
}

# Downloads the four files; a file is there only once its checksum is right.
download_digits() {  # download_digits FOLDER
  local i mirror part
  mkdir -p "$1" || return 1
  for i in "${!files[@]}"; do
    part="$1/${files[i]}.gz.part.$$"
    for mirror in "${mirrors[@]}"; do
      if [[ -f "$1/${files[i]}.gz" ]]; then
        break
      elif fetch "$mirror/${files[i]}.gz" "$part" &&
        [[ "$(md5sum "$part" | cut -d' ' -f1)" == "${sums[i]}" ]]; then
        mv "$part" "$1/${files[i]}.gz"
      fi
    done
    rm -f "$part"
    [[ -f "$1/${files[i]}.gz" ]] || return 1
  done
}

wants_digits=yes
for argument in "$@"; do
  case "$argument" in
    --data | --data=* | -h | --help) wants_digits=no ;;
  esac
done
if [[ $wants_digits == yes ]] && ! { [[ -n "${BPM_DATA_DIR:-}" ]] && has_digits "$BPM_DATA_DIR"; }; then
  if ! has_digits "$cache" && [[ -z "${BPM_NO_DOWNLOAD:-}" ]]; then
    command -v curl >/dev/null || command -v wget >/dev/null || (install_packages ca-certificates curl) || true
    say "Fetching MNIST (11 MB) into $cache/mnist ..."
    download_digits "$cache/mnist" || true
  fi
  if has_digits "$cache"; then
    export BPM_DATA_DIR="$cache"
  else
    say "MNIST is not here and could not be fetched: the program draws digits of its own."
  fi
fi

rm -f "$log"
exec "$build/examples/mnist" "$@"
