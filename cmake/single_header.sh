#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes all of bpm's doors, with what they include and what else needs Eigen alone, as one header.
#   cmake/single_header.sh bpm_single_header.hpp
set -euo pipefail
if [[ $# -ne 1 || "$1" == -* ]]; then
  sed -n '3,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

{
  echo "// SPDX-License-Identifier: MIT"
  sed 's,^,// ,; s, $,,' "$root/LICENSE"
  cat <<'TEXT'
//
// All of bpm that needs only Eigen, in one file, made from the headers by cmake/single_header.sh. Change those.
#pragma once

#ifdef BPM_TARGET
#error "bpm's headers are included already: take them or bpm_single_header.hpp, not both"
#endif
#ifdef BPM_COMPILED
#error "bpm_single_header.hpp holds all bodies: do not link bpm::compiled"
#endif
TEXT
  # Each header stands where it is first included. That may be within #if BPM_BODIES, which is true where there is no
  # bpm::compiled; within another condition it would be lost to those who include it later.
  awk -v include="$root/include/" '
    function fail(why) { print "single_header.sh: " why > "/dev/stderr"; exit 1 }
    function inline_header(name,    line, depth, conditions, header, status) {
      if (name in seen) return
      seen[name] = 1
      print "\n// --- " name " " substr(dashes, 1, 90 - length(name))
      while ((status = (getline line < (include name))) > 0) {
        if (line ~ /^[ \t]*#[ \t]*if/) conditions[++depth] = line
        if (line ~ /^[ \t]*#[ \t]*el/) conditions[depth] = line
        if (line ~ /^[ \t]*#[ \t]*endif/) --depth
        if (line ~ /^[ \t]*#[ \t]*include[ \t]*["<]bpm\//) {
          if (depth > 1 || (depth == 1 && conditions[1] !~ /^#if BPM_BODIES( |$)/))
            fail(name " includes on a condition other than BPM_BODIES: " line)
          header = line
          sub(/^[^"<]*["<]/, "", header)
          sub(/[">].*/, "", header)
          inline_header(header)
        } else if (line !~ /^#pragma once/ && line !~ /SPDX-License-Identifier/) {
          print line
        }
      }
      if (status < 0) fail("cannot read " include name)
      close(include name)
    }
    BEGIN {
      dashes = sprintf("%90s", "")
      gsub(/ /, "-", dashes)
      inline_header("bpm/bpm.hpp")
      inline_header("bpm/gaussian_process.hpp")
      inline_header("bpm/data.hpp")
      inline_header("bpm/images.hpp")
    }'
} | cat -s >"$1.part"
mv "$1.part" "$1"
