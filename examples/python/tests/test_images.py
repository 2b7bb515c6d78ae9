# SPDX-License-Identifier: MIT
"""Features and copies of images, and MNIST beside C++."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bpm import BayesPointClassifier, elastic_copies, gradient_features


def strokes(count):
    random = np.random.RandomState(0)
    images = np.zeros((count, 28, 28), dtype=np.uint8)
    for image in images:
        top, left = random.randint(4, 16, 2)
        image[top : top + 8, left : left + 3] = 255
    return images


def test_features_of_either_shape():
    images = strokes(5)
    features = gradient_features(images)
    assert features.shape == (5, 640) and features.dtype == np.uint8
    assert np.array_equal(features, gradient_features(images.reshape(5, -1)))
    assert np.array_equal(features, gradient_features(images.reshape(5, -1), shape=(28, 28)))
    assert np.allclose(np.linalg.norm(features, axis=1), 700, atol=10)


def test_copies_differ_by_the_seed_alone():
    images = strokes(5)
    copies = elastic_copies(images, copies=2)
    assert copies.shape == (10, 28, 28)
    assert np.array_equal(copies, elastic_copies(images, copies=2, n_jobs=1))
    assert not np.array_equal(copies, elastic_copies(images, copies=2, random_state=2))
    same = elastic_copies(images.reshape(5, -1), affine=0.0, elastic=0.0)
    assert np.array_equal(same, np.tile(images.reshape(5, -1), (4, 1)))


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
