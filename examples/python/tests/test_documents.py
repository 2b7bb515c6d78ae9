# SPDX-License-Identifier: MIT
"""What docstrings and docs/python.md show runs, and says what they say."""

import doctest
import re
from pathlib import Path

import pytest

import bpm
from bpm import _classifiers, _images

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python.md"


@pytest.mark.parametrize("module", [_classifiers, _images])
def test_examples_of_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 5 and result.failed == 0


def test_every_parameter_is_described():
    for Estimator in (bpm.BayesPointClassifier, bpm.GaussianProcessBayesPointClassifier):
        for name in Estimator().get_params():
            assert re.search(rf"\b{name}\b", Estimator.__doc__), name


def blocks():
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(blocks())))
def test_the_page(number, request, monkeypatch, tmp_path):
    code = blocks()[number]
    if "mnist" in code:
        request.getfixturevalue("mnist")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for line in code.splitlines():
        assert len(line) <= 100
    exec(compile(code, f"{PAGE.name}, block {number}", "exec"), names)
    for name, value in names.get("expected", {}).items():
        assert names[name] == pytest.approx(value, rel=1e-6)
