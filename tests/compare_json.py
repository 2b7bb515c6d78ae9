# SPDX-License-Identifier: MIT
"""Compares two JSON files of one program: compare_json.py TOLERANCE BEFORE AFTER.

A tolerance of 0 asks for equal values, another for numbers as close as that, relative. Left out is what a clock, the
machine or the fit's choice of a strategy decides.
"""
import json
import re
import sys

NOT_COMPARED = re.compile(
    r"second|memory|_bytes$|^(commit|compiler|machine|threads|strategy)$|_evaluations$"
)


def flatten(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from flatten(inner, f"{path}[{i}]")
    else:
        yield path, value


def equal(a, b, tolerance):
    if a == b:
        return True
    if tolerance == 0 or isinstance(a, (str, bool)) or isinstance(b, (str, bool)) or a is None or b is None:
        return False
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def main():
    tolerance = float(sys.argv[1])
    sides = []
    for name in sys.argv[2:4]:
        try:
            with open(name, encoding="utf-8") as file:
                sides.append(dict(flatten(json.load(file))))
        except (OSError, ValueError) as error:
            print(f"no result: {error}")
            return 1
    before, after = sides
    different, compared = [], 0
    for path in before:
        key = re.sub(r".*\.|\[\d+\]$", "", path)
        if path in after and not NOT_COMPARED.search(key):
            compared += 1
            if not equal(before[path], after[path], tolerance):
                different.append(path)
    only = sorted({re.sub(r"\[\d+\]", "[]", p) for p in set(before) ^ set(after)})
    print(f"{compared} values, {len(different)} different" + (f"; in one of them only: {', '.join(only)}" if only else ""))
    for path in different[:10]:
        print(f"    {path}: {before[path]!r} before, {after[path]!r} now")
    return 1 if different or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
