#!/bin/sh
# SPDX-License-Identifier: MIT
# A consumer without CMake: the installed package by pkg-config.
#   pkg_config.sh PKG_CONFIG FOLDER COMPILER SOURCE PROGRAM VERSION
set -eu
PKG_CONFIG_PATH="$2${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export PKG_CONFIG_PATH
[ "$("$1" --modversion bpm)" = "$6" ]
# shellcheck disable=SC2046 # Flags, split at blanks.
"$3" -std=c++20 $("$1" --cflags bpm) "$4" -o "$5" $("$1" --libs bpm)
"$5"
