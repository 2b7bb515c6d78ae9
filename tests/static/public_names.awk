# SPDX-License-Identifier: MIT
# Prints the public names of headers, one a line as "area kind name": what stands in namespace bpm and in no
# namespace below it. Overloads, declarations and specialisations count once; operators and members do not count.
#   awk -f tests/static/public_names.awk $(find include/bpm -name '*.hpp')

function flush_name(   s, kind, name, head, depth, i, c) {
  s = statement
  statement = ""
  if (where() != "bpm") return
  gsub(/\[\[[^]]*\]\]/, " ", s)
  gsub(/[ \t]+/, " ", s)
  sub(/^ /, "", s)
  while (s ~ /^template ?</) {  # off with the parameters
    depth = 0
    for (i = index(s, "<"); i <= length(s); ++i) {
      c = substr(s, i, 1)
      if (c == "<") ++depth
      if (c == ">" && --depth == 0) break
    }
    s = substr(s, i + 1)
    sub(/^ /, "", s)
  }
  head = s
  sub(/\(.*/, "", head)
  if (s ~ /^concept /) { kind = "concept"; name = substr(s, 9) }
  else if (s ~ /^using namespace /) return
  else if (s ~ /^using /) { kind = "alias"; name = substr(s, 7); if (name !~ /=/) sub(/.*::/, "", name) }
  else if (s ~ /^(enum class|enum struct|enum) /) { kind = "enum"; name = s; sub(/^enum ((class|struct) )?/, "", name) }
  else if (s ~ /^requires / && head ~ / (class|struct) /) { kind = "class"; name = head; sub(/.* (class|struct) /, "", name) }
  else if (s ~ /^(class|struct|union) /) { kind = "class"; name = s; sub(/^[a-z]+ /, "", name) }
  else if (s ~ /^(static_assert|extern|friend|requires ?\()/ || s == "") return  # the last: a guide
  else if (s ~ /operator/) return
  else {
    # A function, or a constant: the word before the first bracket or sign that ends it.
    sub(/^requires .*> /, "", s)
    kind = (s ~ /\(/ && s !~ /^[^(]*=/) ? "function" : "constant"
    name = s
    if (kind == "function") sub(/ ?\(.*/, "", name)
    else sub(/ ?[=;{].*/, "", name)
    if (name ~ /::[A-Za-z_0-9]+$/ && name !~ / [A-Za-z_0-9]+$/) return  # a member, defined outside
    sub(/.*[ &*>]/, "", name)
    if (name ~ /::/) return
  }
  if (!match(name, /^[A-Za-z_][A-Za-z_0-9]*/)) return
  name = substr(name, 1, RLENGTH)
  if (!(name in seen)) { seen[name] = 1; print area, kind, name }
}

function where(   i, result) {
  result = ""
  for (i = 1; i <= level; ++i) {
    if (kind_of[i] != "namespace") return "-"
    result = result (result == "" || name_of[i] == "" ? "" : "::") name_of[i]
  }
  return result
}

FNR == 1 {
  area = FILENAME
  sub(/.*include\/bpm\//, "", area)
  if (!sub(/\/.*/, "", area)) area = "."
  level = 0
  brackets = 0
  statement = ""
  in_macro = 0
}
/^[ \t]*#/ || in_macro { in_macro = /\\$/; next }
{
  line = $0
  gsub(/\\"/, "", line)
  gsub(/"[^"]*"/, "\"\"", line)
  gsub(/'(\\.|[^'\\])'/, "0", line)
  sub(/\/\/.*/, "", line)
  gsub(/\/\*[^*]*\*\//, "", line)
  line = line " "
  for (k = 1; k <= length(line); ++k) {
    c = substr(line, k, 1)
    if (c == "(") ++brackets
    if (c == ")") --brackets
    if (brackets > 0) {
      statement = statement c  # braces of default arguments are no bodies
    } else if (c == "{") {
      ++level
      if (statement ~ /^[ \t]*(inline )?namespace( |$)/) {
        kind_of[level] = "namespace"
        name_of[level] = statement
        gsub(/^[ \t]*(inline )?namespace|[ \t]/, "", name_of[level])
        if (name_of[level] == "BPM_TARGET") name_of[level] = ""
        statement = ""
      } else {
        --level
        if (where() == "bpm") flush_name()
        statement = ""
        ++level
        kind_of[level] = "body"
      }
    } else if (c == "}") {
      --level
      statement = ""
    } else if (c == ";") {
      if (where() == "bpm") flush_name()
      statement = ""
    } else {
      statement = statement c
    }
  }
}
