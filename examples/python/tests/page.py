# SPDX-License-Identifier: MIT
"""The pieces of code that docs/python.md shows, and what it says that they print."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python.md"


def pieces(*, with_mnist):
    shown = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return [piece for piece in shown if ("mnist" in piece[0]) == with_mnist]


def run(code):
    exec(compile(code, PAGE.name, "exec"), {"__name__": "page"})
