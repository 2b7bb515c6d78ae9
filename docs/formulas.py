#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Part of docs/site.sh: draws the formulas of the made pages, so that who opens them runs no script for it.

formulas.py SITE [KATEX]

KATEX is the npm package: a formula that it does not take is an error. Without it formulas stay TeX, as code.
"""
import html
import json
import os
import pathlib
import re
import subprocess
import sys

site = pathlib.Path(sys.argv[1])
# What docs/site.py has arithmatex mark: \(in a line\), \[by itself\]. A full stop stays on the line of a short one.
formula = re.compile(r'<(span|div) class="arithmatex">\s*\\[(\[]\s*(.*?)\s*\\[)\]]\s*</\1>([.,;:)]*)', re.S)
pages = {page: page.read_text() for page in site.rglob("*.html")}
found = [m for text in pages.values() for m in formula.finditer(text)]
# The source that KaTeX leaves beside what it draws would be twice on the page for who searches it.
draw = """
const katex = require(process.argv[1]), formulas = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(formulas.map(([displayMode, tex]) =>
  katex.renderToString(tex, {displayMode, throwOnError: true}).replace(/<annotation.*?<\\/annotation>/s, ""))));
"""
if len(sys.argv) > 2:
    katex = pathlib.Path(sys.argv[2]).resolve()
    formulas = json.dumps([[m[1] == "div", html.unescape(m[2])] for m in found])
    drawn = json.loads(subprocess.run(["node", "-e", draw, str(katex)], input=formulas, stdout=subprocess.PIPE, text=True,
                                      check=True).stdout)
    drawn = [f'<{m[1]} class="arithmatex{" short" if len(m[2]) < 40 else ""}">{text}{m[3]}</{m[1]}>'
             for m, text in zip(found, drawn)]
    fonts = site / "katex/fonts"
    fonts.mkdir(parents=True)
    for file in (katex / "dist/fonts").glob("*.woff2"):
        (fonts / file.name).write_bytes(file.read_bytes())
    style = re.sub(r',url\([^)]*\) format\("(woff|truetype)"\)', "", (katex / "dist/katex.min.css").read_text())
    (site / "katex/katex.css").write_text(style)
    (site / "katex/LICENSE").write_bytes((katex / "LICENSE").read_bytes())
else:
    drawn = [f"<pre><code>{m[2]}</code></pre>" if m[1] == "div" else f"<code>{m[2]}</code>{m[3]}" for m in found]

drawn = iter(drawn)
for page, text in pages.items():
    text, count = formula.subn(lambda _: next(drawn), text)
    if count > 0:
        if len(sys.argv) > 2:
            style = os.path.relpath(site / "katex/katex.css", page.parent)
            text = text.replace("</head>", f'<link rel="stylesheet" href="{style}"></head>', 1)
        page.write_text(text)
