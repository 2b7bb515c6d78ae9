# SPDX-License-Identifier: MIT
# Prints the error messages of headers that no test quotes. A message counts as quoted where a piece of it of two words
# or more, as it stands between its arguments, stands in a test.
#   awk -f tests/static/messages.awk TESTS... HEADERS...     tests are files whose path begins with tests/

function tidy(s) { gsub(/^[ ,;:]+|[ ,;:]+$/, "", s); return s }

# The literals of one call, from the bracket that opens it at `at`: a list between newlines.
function literals_of(text, at,   depth, c, piece, list, inside) {
  depth = 0; inside = 0; piece = ""; list = ""
  for (; at <= length(text); ++at) {
    c = substr(text, at, 1)
    if (inside) {
      if (c == "\\") { piece = piece c substr(text, ++at, 1); continue }
      if (c == "\"") { inside = 0; list = list piece "\n"; piece = ""; continue }
      piece = piece c
    } else if (c == "\"") inside = 1
    else if (c == "(" || c == "{" || c == "[") ++depth
    else if (c == ")" || c == "}" || c == "]") { if (--depth == 0) return list }
  }
  return list
}

function finish(   code, at, list, n, parts, i, known, longest) {
  if (file == "") return
  gsub(/"[ \t\n]*"/, "", text)  # adjacent literals are one
  if (file ~ /^tests\//) { tests = tests text; return }
  while (match(text, /(check|fail|check_size|ensure<[A-Za-z:]+>|throw [A-Za-z:]+|Error)\(/)) {
    list = literals_of(text, RSTART + RLENGTH - 1)
    text = substr(text, RSTART + RLENGTH)
    n = split(list, parts, "\n")
    known = 1; longest = ""
    for (i = 1; i <= n; ++i) {
      parts[i] = tidy(parts[i])
      if (parts[i] !~ /[a-z][a-z]+ [a-z]/) continue
      if (length(parts[i]) > length(longest)) longest = parts[i]
      if (known != 2) known = index(tests, parts[i]) > 0 ? 2 : 0
    }
    if (!known) { print file ": " longest; ++missing }
  }
}

FNR == 1 { finish(); file = FILENAME; text = "" }
{
  line = $0
  if (line !~ /"[^"]*\/\/[^"]*"/) sub(/(^|[ \t])\/\/.*/, "", line)
  text = text line "\n"
}
END { finish() }
