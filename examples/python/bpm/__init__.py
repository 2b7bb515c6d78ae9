# SPDX-License-Identifier: MIT
"""Bayes point machines for scikit-learn: the C++ library of that name, from Python."""

from ._checks import FitWarning
from ._choosing import BayesPointClassifierCV
from ._classifiers import BayesPointClassifier, GaussianProcessBayesPointClassifier
from ._images import elastic_copies, gradient_features
from ._native import __version__
from ._rejection import RejectingClassifier

__all__ = [
    "BayesPointClassifier",
    "BayesPointClassifierCV",
    "FitWarning",
    "GaussianProcessBayesPointClassifier",
    "RejectingClassifier",
    "elastic_copies",
    "gradient_features",
    "__version__",
]
