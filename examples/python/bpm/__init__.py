# SPDX-License-Identifier: MIT
"""Bayes point machines for scikit-learn: the C++ library of that name, from Python."""

from ._classifiers import BayesPointClassifier, FitWarning, GaussianProcessBayesPointClassifier
from ._images import elastic_copies, gradient_features
from ._native import __version__

__all__ = [
    "BayesPointClassifier",
    "FitWarning",
    "GaussianProcessBayesPointClassifier",
    "elastic_copies",
    "gradient_features",
    "__version__",
]
