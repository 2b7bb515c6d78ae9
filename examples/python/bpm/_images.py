# SPDX-License-Identifier: MIT
"""What images are turned into before they are inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._checks import _real, _seed, _threads, _whole


def _rows(images: ArrayLike, shape: tuple[int, int] | None) -> tuple[NDArray, int, int]:
    """Images as one row of bytes each, and their sides."""
    images = np.asarray(images)
    if images.dtype != np.uint8:
        raise ValueError(f"images are of {images.dtype}, must be of uint8, grey levels 0 to 255")
    if images.ndim == 3:
        if shape is not None and tuple(shape) != images.shape[1:]:
            raise ValueError(f"shape is {tuple(shape)}, but images are {images.shape[1:]}")
        height, width = images.shape[1:]
    elif images.ndim == 2:
        if shape is None:
            side = int(round(images.shape[1] ** 0.5))
            shape = (side, side)
            if side * side != images.shape[1]:
                raise ValueError(
                    f"images have {images.shape[1]} pixels, which is no square: give their shape"
                )
        height, width = shape
        if height * width != images.shape[1]:
            raise ValueError(f"shape is {tuple(shape)}, but images have {images.shape[1]} pixels")
    else:
        raise ValueError(f"images have {images.ndim} dimensions, must have 2 or 3")
    rows = np.ascontiguousarray(images).reshape(len(images), height * width)
    return rows, int(height), int(width)


def gradient_features(
    images: ArrayLike, *, shape: tuple[int, int] | None = None, n_jobs: int | None = None
) -> NDArray[np.uint8]:
    """How much gradient of each direction and bend there is in each cell of an image.

    Parameters
    ----------
    images : array-like of uint8, shape (n, height, width) or (n, height * width)
        One channel.
    shape : (int, int), optional
        Height and width of images in rows; a square if left out.
    n_jobs : int, optional
        As of ``BayesPointClassifier``.

    Returns
    -------
    ndarray of uint8, shape (n, 640)
        Of norm 700, but for rounding, which ``unit_inputs=True`` takes away.

    Examples
    --------
    >>> import numpy as np
    >>> from bpm import gradient_features
    >>> images = np.zeros((2, 28, 28), dtype=np.uint8)
    >>> images[:, 10:20, 12:16] = 255
    >>> gradient_features(images).shape
    (2, 640)
    """
    rows, height, width = _rows(images, shape)
    if min(height, width) < 8:
        raise ValueError(f"images are {height} x {width}, must be 8 x 8 or larger")
    return _native.gradient_features(rows, height, width, _threads(n_jobs))


def elastic_copies(
    images: ArrayLike,
    copies: int = 4,
    *,
    shape: tuple[int, int] | None = None,
    affine: float = 0.12,
    elastic: float = 1.0,
    width: float = 8.0,
    random_state: Any = 1,
    n_jobs: int | None = None,
) -> NDArray[np.uint8]:
    """Randomly deformed copies of images, to train on beside them.

    Parameters
    ----------
    images, shape, n_jobs
        As of ``gradient_features``.
    copies : int
        Of each image.
    affine : float
        The standard deviation of the affine map's entries: 0.12 is a turn of some 7 degrees.
    elastic, width : float
        Pixels that a point moves (root mean square), and over which it moves alike.
    random_state : int, RandomState or None
        As of ``BayesPointClassifier``.

    Returns
    -------
    ndarray of uint8, shape (copies * n, ...)
        One copy of every image, then the next of every image: their labels are ``numpy.tile(y,
        copies)``.

    Examples
    --------
    >>> import numpy as np
    >>> from bpm import elastic_copies
    >>> images = np.zeros((2, 28, 28), dtype=np.uint8)
    >>> elastic_copies(images, copies=3).shape
    (6, 28, 28)
    """
    rows, height, columns = _rows(images, shape)
    found = _native.elastic_copies(
        rows,
        height,
        columns,
        _whole("copies", copies, 1),
        _real("affine", affine),
        _real("elastic", elastic),
        _real("width", width),
        _seed(random_state),
        _threads(n_jobs),
    )
    return found.reshape(len(found), *np.shape(images)[1:])
