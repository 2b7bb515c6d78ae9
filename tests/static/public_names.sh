#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Counts the library's public names (namespace bpm, outside bpm::detail) and fails above LIMIT.
#   ./tests/static/public_names.sh [--list] [LIMIT]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

list=no
if [[ "${1:-}" == --list ]]; then
  list=yes
  shift
fi
names="$(find include/bpm -name '*.hpp' | sort | xargs awk -f tests/static/public_names.awk | sort)"
if [[ $list == yes ]]; then
  echo "$names"
fi
awk '{ ++count[$1] } END { for (area in count) printf "%4d  %s\n", count[area], area }' <<<"$names" | sort -k2
count="$(wc -l <<<"$names")"
echo "$count public names${1:+, at most $1}"
if [[ -n "${1:-}" && $count -gt $1 ]]; then
  echo "More public names than the limit: what a user never writes belongs to bpm::detail." >&2
  exit 1
fi
