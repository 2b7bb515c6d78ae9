# SPDX-License-Identifier: MIT
"""Features and copies of images."""

import numpy as np

from bpm import elastic_copies, gradient_features


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
