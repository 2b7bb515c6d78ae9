#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the wheel without a network, from a copy of what it needs, installs it in a fresh environment, both by the
# first lines that docs/python.md shows, and runs a program there.
#   wheel.sh PYTHON SOURCE FOLDER COMPILER
set -eu
python="$(command -v "$1")"
rm -rf "$3"
mkdir -p "$3/source/examples"
for part in CMakeLists.txt LICENSE cmake include; do cp -R "$2/$part" "$3/source/"; done
cp -R "$2/examples/common" "$2/examples/python" "$3/source/examples/"
cd "$3/source"

# It is for any machine; little is optimised, as the test asks only whether it works.
export CXX="$4" CMAKE_ARGS="'-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG'" PYTHONPATH=''
python3() { "$python" "$@"; }
eval "$(awk '/^```/ { fences++; next } fences == 1' "$2/docs/python.md")"
environment/bin/python -B "$2/tests/python/program.py" "$3/source/environment"
