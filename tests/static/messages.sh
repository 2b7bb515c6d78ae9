#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Lists the library's error messages that no test quotes, and fails where they are more than LIMIT.
#   ./tests/static/messages.sh [LIMIT]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mapfile -t tests < <(find tests -name '*.[ch]pp' | sort)
mapfile -t headers < <(find include -name '*.hpp' | sort)
missing="$(awk -f tests/static/messages.awk "${tests[@]}" "${headers[@]}")"
count="$(grep -c . <<<"$missing" || true)"
echo "$missing"
echo "$count messages without a test${1:+, at most $1}"
[[ -z "${1:-}" || $count -le $1 ]]
