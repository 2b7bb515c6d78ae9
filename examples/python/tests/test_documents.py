# SPDX-License-Identifier: MIT
"""What docstrings and docs/python.md show runs, and prints what they say."""

import doctest
import re

import pytest
from page import PAGE, pieces, run

import bpm
from bpm import _choosing, _classifiers, _images, _rejection


@pytest.mark.parametrize("module", [_choosing, _classifiers, _images, _rejection])
def test_examples_of_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted >= 5 and result.failed == 0


def test_every_parameter_is_described():
    for estimator in (
        bpm.BayesPointClassifier(),
        bpm.BayesPointClassifierCV(),
        bpm.GaussianProcessBayesPointClassifier(),
        bpm.RejectingClassifier(None),
    ):
        for name in estimator.get_params(deep=False):
            assert re.search(rf"\b{name}\b", type(estimator).__doc__), name


def test_every_piece_of_the_page_shows_what_it_prints():
    count = len(pieces(with_mnist=False)) + len(pieces(with_mnist=True))
    assert count == PAGE.read_text().count("```python") == 7


@pytest.mark.parametrize("code, printed", pieces(with_mnist=False))
def test_the_page(code, printed, capsys):
    if "pandas" in code:
        pytest.importorskip("pandas")
    run(code)
    assert capsys.readouterr().out == printed
