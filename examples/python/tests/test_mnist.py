# SPDX-License-Identifier: MIT
"""MNIST, beside C++."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from page import pieces, run

from bpm import BayesPointClassifier, gradient_features


def test_the_model_of_the_program_mnist(mnist, tmp_path):
    program = Path(os.environ.get("BPM_PROGRAMS", "")) / "mnist"
    if not program.is_file():
        pytest.skip("mnist is not built: BPM_PROGRAMS names no folder that holds it")
    images, labels, test_images, test_labels = mnist
    out = tmp_path / "mnist.json"
    options = "--features gradient --train 4000 --test 3000 --draws 3 --quiet --json"
    subprocess.run([program, *options.split(), out], check=True, stdout=subprocess.DEVNULL)
    expected = json.loads(out.read_text())
    machine = BayesPointClassifier(
        "polynomial", degree=15, unit_inputs=True, soft_boundary="hard", bias=0, draws=3
    ).fit(gradient_features(images[:4000]), labels[:4000])
    error = 1 - machine.score(gradient_features(test_images[:3000]), test_labels[:3000])
    assert len(machine.support_) == expected["support_union"]
    assert 100 * error == pytest.approx(expected["test_error_percent"], abs=1e-9)


@pytest.mark.parametrize("code, printed", pieces(with_mnist=True))
def test_the_page(code, printed, mnist, capsys):
    run(code)
    assert capsys.readouterr().out == printed
