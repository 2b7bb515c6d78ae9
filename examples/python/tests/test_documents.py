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


def pieces():
    """Each piece of code of the page, and what it prints."""
    return re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_every_piece_shows_what_it_prints():
    assert len(pieces()) == PAGE.read_text().count("```python") > 4


@pytest.mark.parametrize("number", range(len(pieces())))
def test_the_page(number, request, capsys):
    code, expected = pieces()[number]
    if "mnist" in code:
        request.getfixturevalue("mnist")
    if "pandas" in code:
        pytest.importorskip("pandas")
    exec(compile(code, f"{PAGE.name}, piece {number}", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == expected
