#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the Debian packages of a build, unpacks them into a folder, and uses what lies there. (A build for tests is for
# the machine at hand and optimised little, so that only the preset debian makes packages to hand out.)
#   debian.sh BUILD FOLDER COMPILER [PYTHON]        the Python that python3-bpm is for
set -euo pipefail
build="$1" folder="$2" compiler="$3" python="${4:-}"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root="$folder/root"
rm -rf "$folder"
mkdir -p "$root"
cpack --config "$build/CPackConfig.cmake" -B "$folder/debs"
rm -r "$folder/debs/_CPack_Packages"
for deb in "$folder"/debs/*.deb; do dpkg-deb -x "$deb" "$root"; done

# README's program, by pkg-config, prints what README says.
program="$folder/README.cpp"
cmake -DPAGE=README.md "-DOUT=$program" -P tests/docs/snippets.cmake
export PKG_CONFIG_PATH="$root/usr/share/pkgconfig"
read -r -a flags <<<"$(pkg-config --cflags --libs bpm)"
"$compiler" -std=c++20 "$program" -o "$folder/README" "${flags[@]}"
# shellcheck disable=SC2016 # Backticks of Markdown.
diff <("$folder/README") <(sed -n 's/^prints `\(.*\)`\.$/\1/p' README.md | sed 's/`, `/\n/g')

# By CMake's package, and the command line with its page and completion.
cmake -S tests/package/installed -B "$folder/consumer" "-DCMAKE_CXX_COMPILER=$compiler" "-DCMAKE_PREFIX_PATH=$root/usr"
cmake --build "$folder/consumer"
"$folder/consumer/consumer"
"$root/usr/bin/bpm" --version
gzip -dc "$root/usr/share/man/man1/bpm.1.gz" | diff - examples/bpm/bpm.1
diff "$root/usr/share/bash-completion/completions/bpm" examples/bpm/bpm.bash
[[ "$(dpkg-deb -f "$folder"/debs/bpm_*.deb Conflicts)" == bpm-tools ]]
if [[ -e "$root/usr/lib/python3" ]] && "$python" -c "import numpy, scipy, sklearn"; then
  PYTHONPATH="$root/usr/lib/python3/dist-packages" "$python" -B tests/python/program.py "$root"
fi

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning "$folder"/debs/*.deb
fi
