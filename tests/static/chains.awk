# SPDX-License-Identifier: MIT
# Reads lines `HEADER` and `HEADER INCLUDED`, and prints all headers in few chains, a line each: every header of a
# chain includes the one before it, itself or by what it includes.
NF == 1 { known[$1] = 1 }
NF == 2 { includes[$1] = includes[$1] " " $2 }

# Marks what is read where `header` is: within[header, other], by number size[header].
function reach(header,    names, count, i, other) {
  if (header in size) return
  size[header] = 0
  count = split(includes[header], names, " ")
  for (i = 1; i <= count; ++i) {
    reach(names[i])
    within[header, names[i]] = 1
    for (other in known) if ((names[i], other) in within) within[header, other] = 1
  }
  for (other in known) size[header] += (header, other) in within
}

# Headers that read less come first; each ends the chain whose end it reads, of several the one that reads most.
END {
  for (header in known) reach(header)
  for (header in known) {
    for (i = count++; i > 0 && size[header] < size[order[i - 1]]; --i) order[i] = order[i - 1]
    order[i] = header
  }
  for (i = 0; i < count; ++i) {
    header = order[i]
    best = 0
    for (chain = 1; chain <= chains; ++chain) {
      # One that is read by the end itself, the two include each other, begins a chain.
      if (!((header, last[chain]) in within) || (last[chain], header) in within) continue
      if (!best || size[last[chain]] > size[last[best]]) best = chain
    }
    if (!best) best = ++chains
    last[best] = header
    line[best] = line[best] " " header
  }
  for (chain = 1; chain <= chains; ++chain) print substr(line[chain], 2)
}
