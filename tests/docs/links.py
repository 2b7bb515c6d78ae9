#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks links.

  links.py REPOSITORY      of the Markdown pages, as the hosting's page follows them: files, and headings behind #;
                           also that headers of docs/renames.md are there today and those of before are not, and
                           that pages ask for today's version
  links.py --site FOLDER   of the site that docs/site.sh made: files and anchors, and that no page loads anything from
                           another host; also that formulas are drawn, where KaTeX was there
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse


def markdown_anchors(path):
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S)
    anchors = set()
    for heading in re.findall(r"^#+ +(.+?) *#*$", text, flags=re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = 0
        while slug + (f"-{number}" if number else "") in anchors:
            number += 1
        anchors.add(slug + (f"-{number}" if number else ""))
    return anchors


def check_markdown(root):
    wrong, count = [], 0
    pages = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob(".github/*.md")]
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
        text = re.sub(r"`[^`\n]*`", "", text)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            file = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
            if not file.exists() or root.resolve() not in [file, *file.resolve().parents]:
                wrong.append(f"{page.relative_to(root)}: {target} is not there")
            elif anchor and file.suffix == ".md" and anchor not in markdown_anchors(file):
                wrong.append(f"{page.relative_to(root)}: {target}: no heading is called so")
    return wrong, count


def check_renames(root):
    wrong, count = [], 0
    for line in (root / "docs/renames.md").read_text().splitlines():
        cells = [re.findall(r"`(?:bpm/)?([\w/]+\.hpp)`", cell) for cell in line.split("|")[1:-1]]
        for cell, there in zip(cells, (False, True)):
            count += len(cell)
            wrong += [f"docs/renames.md: {header} is {'not there' if there else 'still there'}"
                      for header in cell if (root / "include/bpm" / header).is_file() != there]
    return wrong, count


def check_version(root):
    text = (root / "include/bpm/version.hpp").read_text()
    version = ".".join(re.findall(r"^#define BPM_VERSION_(?:MAJOR|MINOR) (\d+)$", text, flags=re.M))
    asked = {page: re.findall(r"find_package\(bpm ([\d.]+)", page.read_text())
             for page in [root / "README.md", *root.glob("docs/*.md"), root / "cmake/install.cmake"]}
    return [f"{page.relative_to(root)} asks for version {other}, not {version}"
            for page, others in asked.items() for other in others if other != version], sum(map(len, asked.values()))


class Page(html.parser.HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        for name in ("id", "name"):
            if values.get(name):
                self.anchors.add(values[name])
        if tag in ("a", "area") and values.get("href"):
            self.links.append(values["href"])
        elif tag == "link" and values.get("href") and values.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(values["href"])
        elif tag in ("img", "script", "iframe", "source", "object", "embed") and (values.get("src") or values.get("data")):
            self.loads.append(values.get("src") or values.get("data"))


def check_site(root):
    wrong, count, pages = set(), 0, {}

    def page_of(path):
        if path not in pages:
            pages[path] = Page(path.read_text(errors="replace"))
        return pages[path]

    for path in sorted(root.rglob("*.html")):
        if path.name == "404.html":  # its links are those of the server's root
            continue
        page = page_of(path)
        for kind, targets in (("link", page.links), ("load", page.loads)):
            for target in targets:
                if re.match(r"[a-z]+:|//", target):
                    if kind == "load" and not target.startswith(("data:", "javascript:")):
                        wrong.add(f"{path.relative_to(root)} loads {target}")
                    continue
                count += 1
                address = urllib.parse.urlsplit(target)
                file = (path.parent / urllib.parse.unquote(address.path)).resolve() if address.path else path
                if file.is_dir():
                    file = file / "index.html"
                if not file.exists():
                    wrong.add(f"{path.relative_to(root)}: {target} is not there")
                elif address.fragment and file.suffix == ".html" and \
                        urllib.parse.unquote(address.fragment) not in page_of(file).anchors:
                    wrong.add(f"{path.relative_to(root)}: {target}: there is no such place")
    for style in [*root.rglob("*.css"), *root.rglob("*.html")]:
        for target in re.findall(r"(?:url\(|@import )[\"']?(https?:[^\"')]+|//[^\"')]+)", style.read_text(errors="replace")):
            wrong.add(f"{style.relative_to(root)} loads {target}")
    return sorted(wrong), count


def check_formulas(root):
    wrong, count = [], 0
    for page in root.glob("docs/*.html"):
        text = page.read_text()
        count += text.count('class="katex"')
        wrong += [f"{page.relative_to(root)} has {left}" for left in re.findall(r"\$\$|\\t?frac|katex-error", text)]
    if 'class="katex"' not in (root / "docs/theory.html").read_text():
        wrong.append("docs/theory.html has no formula that is drawn")
    return wrong, count


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--site":
        root = pathlib.Path(sys.argv[2]).resolve()
        if not (root / "index.html").exists():
            print("there is no site")
            raise SystemExit(77)
        wrong, count = check_site(root)
        if (root / "katex").exists():
            more, number = check_formulas(root)
            print(f"{number} formulas")
            wrong += more
    elif len(sys.argv) == 2:
        root = pathlib.Path(sys.argv[1])
        wrong, count = check_markdown(root)
        for check, what in ((check_renames, "headers of docs/renames.md"), (check_version, "versions")):
            more, number = check(root)
            if number == 0:
                more = [f"there are no {what}"]
            print(f"{number} {what}")
            wrong += more
    else:
        sys.exit(__doc__)
    print(f"{count} links")
    if wrong:
        sys.exit("\n".join(wrong))


main()
