# SPDX-License-Identifier: MIT
import gzip
import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def squares():
    """Two classes in a square, named by words."""
    random = np.random.RandomState(0)
    X = random.uniform(-1, 1, (300, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


@pytest.fixture(scope="session")
def blobs():
    """Three classes of bytes in eight columns."""
    random = np.random.RandomState(1)
    y = np.repeat([0, 1, 2], 60)
    centres = random.randint(40, 216, (3, 8))
    return np.clip(centres[y] + random.randint(-30, 31, (180, 8)), 0, 255).astype(np.uint8), y


@pytest.fixture(scope="session")
def mnist():
    """Images and labels to train, then to test."""
    folder = Path(os.environ.get("BPM_DATA_DIR", "")) / "mnist"
    if not os.environ.get("BPM_DATA_DIR") or not folder.is_dir():
        pytest.skip("MNIST is not there: BPM_DATA_DIR names no folder that holds mnist/")

    def read(name, skip):
        with gzip.open(folder / f"{name}-ubyte.gz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=skip)

    return tuple(
        read(f"{part}-{what}", skip).reshape((-1, 28, 28) if skip == 16 else -1)
        for part in ("train", "t10k")
        for what, skip in (("images-idx3", 16), ("labels-idx1", 8))
    )
