#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the Debian packages, unpacks them into a folder, and uses what lies there.
#   debian.sh FOLDER COMPILER PYTHON        PYTHON: ON for python3-bpm as well, else OFF
set -euo pipefail
folder="$1" compiler="$2" python="$3"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root="$folder/root"
rm -rf "$folder/debs" "$root"
mkdir -p "$root"

# As the preset has it, but not optimised: it is only looked at whether it works.
cmake --preset debian -B "$folder/build" -DBPM_FAST_PROGRAMS=OFF -DCMAKE_CXX_FLAGS_RELEASE=-O0 \
  "-DCMAKE_CXX_COMPILER=$compiler" "-DBPM_PYTHON=$python"
targets=(command_line)
[[ "$python" == OFF ]] || targets+=(bpm_python)
cmake --build "$folder/build" --target "${targets[@]}"
cpack --config "$folder/build/CPackConfig.cmake" -B "$folder/debs"
for deb in "$folder"/debs/*.deb; do dpkg-deb -x "$deb" "$root"; done

# README's program, by pkg-config, prints what README says.
program="$folder/README.cpp"
cmake -DPAGE=README.md "-DOUT=$program" -P tests/docs/snippets.cmake
export PKG_CONFIG_PATH="$root/usr/share/pkgconfig"
read -r -a flags <<<"$(pkg-config --cflags --libs bpm)"
"$compiler" -std=c++20 "$program" -o "$folder/README" "${flags[@]}"
diff <("$folder/README") <(sed -n 's/^prints `\(.*\)`\.$/\1/p' README.md | sed 's/`, `/\n/g')

# By CMake's package, and the command line with its page and completion.
cmake -S tests/package/installed -B "$folder/consumer" "-DCMAKE_CXX_COMPILER=$compiler" "-DCMAKE_PREFIX_PATH=$root/usr"
cmake --build "$folder/consumer"
"$folder/consumer/consumer"
"$root/usr/bin/bpm" --version
gzip -dc "$root/usr/share/man/man1/bpm.1.gz" | diff - examples/bpm/bpm.1
diff "$root/usr/share/bash-completion/completions/bpm" examples/bpm/bpm.bash
[[ "$(dpkg-deb -f "$folder"/debs/bpm_*.deb Conflicts)" == bpm-tools ]]
if [[ "$python" != OFF ]]; then
  PYTHONPATH="$root/usr/lib/python3/dist-packages" /usr/bin/python3 -B tests/python/program.py "$root"
fi

# (strip leaves the section in which compilers say their version, 18 bytes that lintian would rather not have.)
if command -v lintian >/dev/null; then
  lintian --allow-root --display-info --fail-on error,warning,info --suppress-tags binary-has-unneeded-section "$folder"/debs/*.deb
fi
