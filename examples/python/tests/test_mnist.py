# SPDX-License-Identifier: MIT
"""MNIST, beside C++."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from page import pieces, run

from bpm import BayesPointClassifier, gradient_features


@pytest.mark.parametrize(
    "options, features, words",
    [
        ("--features gradient", gradient_features, {"degree": 15, "unit_inputs": True}),
        ("--input byte", lambda images: images.reshape(-1, 784), {"gamma": 1 / 65025}),
    ],
)
def test_the_model_is_that_of_the_program(mnist, tmp_path, options, features, words):
    program = Path(os.environ.get("BPM_PROGRAMS", "")) / "mnist"
    if not program.is_file():
        pytest.skip("mnist is not built: BPM_PROGRAMS names no folder that holds it")
    images, labels, test_images, test_labels = mnist
    out = tmp_path / "mnist.json"
    options += " --train 4000 --test 3000 --draws 3 --quiet --json"
    subprocess.run([program, *options.split(), out], check=True, stdout=subprocess.DEVNULL)
    expected = json.loads(out.read_text())
    machine = BayesPointClassifier("polynomial", soft_boundary="hard", bias=0, draws=3, **words)
    machine.fit(features(images[:4000]), labels[:4000])
    error = 1 - machine.score(features(test_images[:3000]), test_labels[:3000])
    # (Their kernels are composed in two ways, so that values agree to rounding.)
    assert len(machine.support_) == expected["support_union"]
    assert 100 * error == pytest.approx(expected["test_error_percent"], abs=1e-9)


@pytest.mark.parametrize("code, printed", pieces(with_mnist=True))
def test_the_page(code, printed, mnist, capsys):
    run(code)
    assert capsys.readouterr().out == printed
