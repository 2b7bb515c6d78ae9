# SPDX-License-Identifier: MIT
"""What is refused, and in which words."""

import numpy as np
import pytest
from scipy import sparse

from bpm import (
    BayesPointClassifier,
    GaussianProcessBayesPointClassifier,
    elastic_copies,
    gradient_features,
)


@pytest.mark.parametrize(
    "words, message",
    [
        ({"kernel": "rbf"}, "kernel is 'rbf', must be one of linear, polynomial"),
        ({"sampler": "ep"}, "sampler is 'ep', must be one of perceptron, billiard, gibbs"),
        ({"degree": 2.5}, "degree is 2.5, must be a whole number, 1 to 64"),
        ({"draws": 0}, "draws is 0, must be a whole number, 1 to"),
        ({"draws": 2**63}, "draws is 9223372036854775808, must be a whole number, 1 to"),
        ({"coef0": "one"}, "coef0 is 'one', must be a number"),
        ({"coef0": 10**400}, "coef0 is a whole number beyond every float"),
        ({"n_jobs": 0}, "n_jobs is 0, must be None or a whole number other than 0"),
        ({"n_jobs": 10**12}, "n_jobs is 1000000000000, must be a whole number, 1 to 4096"),
        ({"class_weight": {"blue": 2}}, "class_weight has the class 'blue', which y has not"),
        ({"class_weight": "even"}, "class_weight is 'even', must be one of balanced"),
        ({"class_weight": {"same": -1.0}}, "weight is -1, must be positive"),
        ({"gamma": 1.0, "width": 1.0}, "gamma and width are both given"),
        ({"gamma": 0.0}, "gamma is 0.0, must be positive and finite"),
        ({"width": -1.0}, "width is -1, must be positive"),
        ({"kernel": "linear", "width": 1.0}, "width is given, which the kernel 'linear' has not"),
        ({"kernel": "linear", "gamma": 1.0}, "gamma is given, which the kernel 'linear' has not"),
        ({"kernel": "laplacian", "unit_inputs": True}, "unit_inputs is true, must be false"),
        ({"soft_boundary": "soft"}, "soft_boundary is 'soft', must be 'automatic', 'hard' or a"),
        ({"soft_boundary": -1}, "is -1, must be finite and not negative"),
        ({"bias": -1.0}, "bias is -1, must be finite and not negative"),
        ({"memory": 1000}, "1000 bytes"),
        ({"random_state": -1}, "random_state is -1, must be a whole number, 0 to"),
    ],
)
def test_parameters(squares, words, message):
    machine = BayesPointClassifier(**words)
    with pytest.raises(ValueError, match=message):
        machine.fit(*squares)
    assert not hasattr(machine, "classes_")


def test_what_no_machine_separates(squares):
    X, y = squares
    X = np.concatenate([X, X[:1]])
    y = np.append(y, "other" if y[0] == "same" else "same")
    with pytest.raises(ValueError, match="points 0 and 300 are equal inputs"):
        BayesPointClassifier(soft_boundary="hard").fit(X, y)


@pytest.mark.parametrize("Estimator", [BayesPointClassifier, GaussianProcessBayesPointClassifier])
def test_training_sets(squares, Estimator):
    X, y = squares
    machine = Estimator()
    with pytest.raises(ValueError, match="sample_weight is given, which Bayes point machines have"):
        machine.fit(X, y, sample_weight=np.ones(300))
    machine.fit(X, y, sample_weight=None)
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        machine.fit(X, y, weights=None)
    assert not hasattr(machine, "classes_")  # A fit that fails leaves nothing of the one before.
    with pytest.raises(ValueError, match="requires y to be passed"):
        machine.fit(X, None)
    with pytest.raises(ValueError, match="y has 299 labels, expected 300, one per row of X"):
        machine.fit(X, y[1:])
    with pytest.raises(ValueError, match="y holds 1 class, 'same', expected two or more"):
        machine.fit(X, np.full(300, "same"))
    for kernel in ("gaussian", "laplacian"):
        with pytest.raises(ValueError, match="X has no two rows at a distance above 0"):
            Estimator(kernel).fit(np.ones((300, 2)), y)


def test_probabilities_need_a_boundary_that_was_chosen(squares):
    machine = BayesPointClassifier(soft_boundary=0.1).fit(*squares)
    assert not hasattr(machine, "predict_proba")
    with pytest.raises(AttributeError, match="not available where soft_boundary is given"):
        machine.reject(squares[0], error=0.1)
    machine.soft_boundary = "automatic"  # Said afterwards.
    with pytest.raises(ValueError, match="slope is not known: fit with an automatic soft boundary"):
        machine.predict_proba(squares[0])


def test_rejection(squares):
    X, y = squares
    machine = BayesPointClassifier().fit(X, y)
    for words in ({}, {"rate": 0.1, "risk": 0.1}):
        with pytest.raises(ValueError, match="rate, error and risk: exactly one must be given"):
            machine.reject(X, **words)
    with pytest.raises(ValueError, match="risk is 0.1, for which there is no threshold"):
        machine.reject(X, risk=0.1)
    with pytest.raises(ValueError, match="error is 2.0, must lie in"):
        machine.reject(X, error=2)
    with pytest.raises(ValueError, match="rate is 1, must be at least 0 and below 1"):
        machine.reject(X, rate=1)
    with pytest.raises(ValueError, match="delta is 0, must lie between 0 and 1"):
        machine.certify_risk(X, y, 0.1, 0.0)


@pytest.mark.parametrize("make", [gradient_features, elastic_copies])
def test_images(make):
    with pytest.raises(ValueError, match="images are of float64, must be of uint8"):
        make(np.zeros((2, 28, 28)))
    with pytest.raises(ValueError, match="shape is .28, 27., but images are .28, 28."):
        make(np.zeros((2, 28, 28), dtype=np.uint8), shape=(28, 27))
    with pytest.raises(ValueError, match="images have 783 pixels, which is no square"):
        make(np.zeros((2, 783), dtype=np.uint8))
    with pytest.raises(ValueError, match="images have 1 dimensions, must have 2 or 3"):
        make(np.zeros(784, dtype=np.uint8))
    with pytest.raises(ValueError, match="shape is .28, 27., but images have 784 pixels"):
        make(np.zeros((2, 784), dtype=np.uint8), shape=(28, 27))
    assert len(make(np.zeros((0, 28, 28), dtype=np.uint8))) == 0


def test_rows_without_a_direction(squares):
    X, y = squares
    Z = X.copy()
    Z[5] = 0
    machine = BayesPointClassifier(unit_inputs=True)
    stored = sparse.csr_matrix(X)
    stored.data[stored.indptr[5] : stored.indptr[6]] = 0
    for rows in (Z, sparse.csr_matrix(Z), stored):
        with pytest.raises(ValueError, match="X has the row 5 of zeros alone, which unit_inputs"):
            machine.fit(rows, y)
    machine.fit(X, y)
    with pytest.raises(ValueError, match="X has the row 5 of zeros alone, which unit_inputs"):
        machine.predict(Z)


def test_diagonals(squares):
    X, y = squares
    machine = GaussianProcessBayesPointClassifier().fit(X, y)
    with pytest.raises(ValueError, match="diagonal is given, which the kernel 'gaussian' computes"):
        machine.predict_proba(X, np.ones(300))
    machine = GaussianProcessBayesPointClassifier("precomputed").fit(X @ X.T + np.eye(300), y)
    with pytest.raises(ValueError, match="diagonal has 2 dimensions, expected 1"):
        machine.predict_proba(X @ X.T, np.ones((30, 10)))
    with pytest.raises(ValueError, match="diagonal has 3 entries, expected 300"):
        machine.predict_proba(X @ X.T, np.ones(3))
