# SPDX-License-Identifier: MIT
"""What docstrings and docs/python.md show runs, and prints what they say."""

import doctest
import re

import pytest
from page import PAGE, pieces, run

import bpm
from bpm import _classifiers, _images


@pytest.mark.parametrize("module", [_classifiers, _images])
def test_examples_of_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 5 and result.failed == 0


def test_every_parameter_is_described():
    for Estimator in (bpm.BayesPointClassifier, bpm.GaussianProcessBayesPointClassifier):
        for name in Estimator().get_params():
            assert re.search(rf"\b{name}\b", Estimator.__doc__), name


def test_every_piece_of_the_page_shows_what_it_prints():
    count = len(pieces(with_mnist=False)) + len(pieces(with_mnist=True))
    assert count == PAGE.read_text().count("```python") == 5


@pytest.mark.parametrize("code, printed", pieces(with_mnist=False))
def test_the_page(code, printed, capsys):
    if "pandas" in code:
        pytest.importorskip("pandas")
    run(code)
    assert capsys.readouterr().out == printed
