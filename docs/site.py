#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Part of docs/site.sh: makes copies of the pages ready for MkDocs, and its settings.

site.py REPOSITORY PAGES TAGS yes|no SETTINGS

Links to headers and the first mention of a public name on a page lead to the reference, whose names Doxygen has
left in TAGS; the front page says where a digit is drawn, where that page is there.
"""
import html
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

repository, pages, tags, has_page, settings = sys.argv[1:]
repository, pages = pathlib.Path(repository), pathlib.Path(pages)

# --- What the reference has --------------------------------------------------------------------------

headers = {}
names = {}
for compound in xml.etree.ElementTree.parse(tags).getroot().iter("compound"):
    kind, name = compound.get("kind"), compound.findtext("name")
    file = compound.findtext("filename", "")
    file = file if file.endswith(".html") else file + ".html"
    if kind == "file":
        headers[compound.findtext("path", "") + name] = file
    elif kind in ("class", "struct", "concept") and re.fullmatch(r"bpm::\w+", name):
        names[name.removeprefix("bpm::")] = file
    elif kind == "namespace" and name == "bpm":
        for member in compound.iter("member"):
            function = member.findtext("name")
            # Shorter words are options and programs as well.
            if member.get("kind") == "function" and "_" in function:
                names.setdefault(function, f"{member.findtext('anchorfile')}#{member.findtext('anchor')}")

# --- The pages -----------------------------------------------------------------------------------------


def link_to_reference(text, folder):
    """The text of a page in the folder, with links to the reference. Blocks of code stay as they are."""
    up = "../" * len(folder.parts)
    seen = set()

    def header(match):
        file = headers.get(str((repository / folder / match[2]).resolve()))
        if file is None:
            sys.exit(f"{folder}: {match[2]} is not in the reference")
        label = re.sub(r"`([^`]+)`", r"<code>\1</code>", match[1])
        return f'<a href="{up}reference/{file}">{label}</a>'

    def mention(match):
        name = re.sub(r"\(\)$", "", match[1]).removeprefix("bpm::")
        if name not in names or name in seen:
            return match[0]
        seen.add(name)
        return f'<a href="{up}reference/{names[name]}"><code>{html.escape(match[1])}</code></a>'

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"\[([^\]]+)\]\(((?:\.\./)?include/[^)]+\.hpp)\)", header, parts[i])
        lines = parts[i].split("\n")
        for j, line in enumerate(lines):
            # No links in headings, in links, or in lines of code set off by four blanks.
            if not line.startswith(("#", "    ", "![")):
                lines[j] = re.sub(r"(?<![\[`])`((?:bpm::)?\w+(?:\(\))?)`(?![\]`])", mention, line)
        parts[i] = "\n".join(lines)
    return "".join(parts)


def for_python_markdown(text):
    """The same page for Python's Markdown, which differs from the hosting's: a list needs an empty line before it,
    what belongs to one of its items four blanks; and <x, y> would be taken for a tag."""
    out, fence, width, loose = [], False, 0, False
    for line in text.split("\n"):
        blanks = len(line) - len(line.lstrip(" "))
        if not fence:
            marker = re.match(r"([-*]|\d+\.) +", line)
            if marker:
                if (width == 0 or loose) and out and out[-1].strip():
                    out.append("")
                loose = width != 0 and loose
                width = marker.end()
            elif line and blanks == 0 and (not out or not out[-1].strip() or line.startswith(("#", "|", "```"))):
                width = 0
            loose = loose or width != 0 and not line
            if width != 0 or blanks < 4:
                line = re.sub(r"(`[^`]*`)|<(?=[A-Za-z/])(?!https?:)", lambda m: m[1] or "&lt;", line)
        if line.strip().startswith("```"):
            fence = not fence
        # (The marker's own line stays.)
        out.append(" " * (4 - width) + line if 0 < width < 4 and blanks >= width else line)
    return "\n".join(out)


for page in pages.rglob("*.md"):
    folder = page.parent.relative_to(pages)
    text = for_python_markdown(page.read_text())
    if page.name == "README.md" and has_page == "yes":
        before, picture, after = text.partition("![A version space")
        text = before + "**[Draw a digit](page/index.html)** and a machine, compiled to WebAssembly, says in your browser " \
            "which it is, how sure it is, and which training digits spoke for and against.\n\n" + picture + after
        text = text.replace("](page/index.html)**", "](PAGE)**")
    text = link_to_reference(text, folder)
    page.write_text(text.replace("[Draw a digit](PAGE)", '<a href="page/index.html">Draw a digit</a>'))

# --- MkDocs ----------------------------------------------------------------------------------------------

navigation = [{"bpm": "README.md"}]
if has_page == "yes":
    navigation.append({"Draw a digit": "page/index.html"})
navigation += [
    {"Use": [{"Tutorial": "docs/tutorial.md"}, {"How to ...": "docs/how-to.md"}, {"Python": "docs/python.md"},
             {"The command line": "docs/command-line.md"}, {"Images": "docs/images.md"},
             {"Model files": "docs/model-files.md"}, {"Many machines": "docs/distributed.md"},
             {"Bad input": "docs/bad-input.md"}, {"Coming from LIBSVM": "docs/coming-from-libsvm.md"},
             {"Packages": "docs/packages.md"}, {"Platforms": "docs/platforms.md"}]},
    {"Understand": [{"Theory": "docs/theory.md"}, {"Samplers": "docs/samplers.md"},
                    {"Gaussian processes and bounds": "docs/kernel-interpolation.md"},
                    {"Kernel values": "docs/kernel-values.md"}, {"Architecture": "docs/architecture.md"}]},
    {"Results": [{"Why not something else": "docs/why-not.md"}, {"Benchmarks": "docs/benchmarks.md"},
                 {"The papers' tables and figures": "docs/reproduction.md"}]},
    {"Reference": "reference/index.html"},
    {"Project": [{"Contributing": "CONTRIBUTING.md"}, {"Changes": "CHANGELOG.md"},
                 {"Renamed headers": "docs/renames.md"}]}]
listed = set(re.findall(r'"([^"]+\.md)"', json.dumps(navigation)))
missing = {str(p.relative_to(pages)) for p in pages.rglob("*.md")} ^ listed
# A page that is new stands in no menu: it would not be found.
for name in sorted(missing):
    if (pages / name).exists():
        navigation[-1]["Project"].append(name)
    else:
        sys.exit(f"docs/site.py: there is no {name}")

# JSON is YAML, all but the name of the function that marks formulas. No fonts from elsewhere, no names of hosts: the
# site asks its own server alone.
pathlib.Path(settings).write_text(json.dumps({
    "site_name": "bpm", "docs_dir": str(pages), "use_directory_urls": False, "nav": navigation,
    "site_description": "Bayes point machines in C++: header-only, C++20, Eigen",
    "extra_css": ["site.css"],
    "theme": {"name": "material", "font": False, "icon": {"logo": "material/chart-bell-curve"},
              "features": ["navigation.tabs", "navigation.sections", "navigation.top", "toc.integrate"],
              "palette": [
                  {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "indigo"},
                  {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "indigo"}]},
    "plugins": ["search"],
    "markdown_extensions": ["tables", "fenced_code", "sane_lists", {"toc": {"permalink": True}},
                            {"pymdownx.highlight": {"guess_lang": False}}, {"pymdownx.arithmatex": {"generic": True}},
                            {"pymdownx.superfences": {"custom_fences": [
                                {"name": "math", "class": "arithmatex", "format": "MATH"}]}}]},
    indent=2).replace('"MATH"', "!!python/name:pymdownx.arithmatex.fence_generic_format"))
