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
        ({"kernel": "sigmoid"}, "kernel is 'sigmoid', must be one of linear, polynomial"),
        ({"sampler": "ep"}, "sampler is 'ep', must be one of perceptron, billiard, gibbs"),
        ({"degree": 2.5}, "degree is 2.5, must be a whole number, 1 to 64"),
        ({"draws": 0}, "draws is 0, must be a whole number, 1 to"),
        ({"draws": 2**63}, "draws is 9223372036854775808, must be a whole number, 1 to"),
        ({"coef0": "one"}, "coef0 is 'one', must be a number"),
        ({"coef0": 10**400}, "coef0 is a whole number beyond every float"),
        ({"n_jobs": 0}, "n_jobs is 0, must be None or a whole number other than 0"),
        ({"n_jobs": 10**12}, "n_jobs is 1000000000000, must be a whole number, 1 to 4096"),
        ({"class_weight": {"blue": 2}}, "class_weight has the class 'blue', which y has not"),
        ({"class_weight": "even"}, "class_weight is 'even', must be a dict or 'balanced'"),
        ({"class_weight": {"same": -1.0}}, "^class_weight of 'same' is -1, must be positive and finite"),
        ({"gamma": 1.0, "width": 1.0}, "gamma and width are both given"),
        ({"gamma": 0.0}, "gamma is 0.0, must be positive and finite"),
        ({"gamma": "large"}, "gamma is 'large', must be one of scale, auto"),
        ({"width": -1.0}, "^width is -1, must be positive"),
        ({"kernel": "laplacian", "width": -1.0}, "^width is -1, must be positive"),
        ({"kernel": "polynomial", "coef0": -1.0}, "^coef0 is -1, must be finite and not negative"),
        ({"kernel": "linear", "width": 1.0}, "width is given, which the kernel 'linear' has not"),
        ({"kernel": "linear", "gamma": 1.0}, "gamma is given, which the kernel 'linear' has not"),
        ({"kernel": "laplacian", "unit_inputs": True}, "unit_inputs is true, must be false"),
        ({"soft_boundary": "soft"}, "soft_boundary is 'soft', must be 'automatic', 'hard' or a"),
        ({"soft_boundary": -1}, "^soft_boundary is -1, must be finite and not negative"),
        ({"bias": -1.0}, "^bias is -1, must be finite and not negative"),
        ({"memory": 1000}, "^memory is 1000 bytes, .* raise memory$"),
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
    with pytest.raises(ValueError, match="^points 0 and 300 are equal .*; give a larger soft_boundary$"):
        BayesPointClassifier(soft_boundary="hard").fit(X, y)


HARD = {"soft_boundary": "hard"}


@pytest.mark.parametrize(
    "machine, message",
    [
        (BayesPointClassifier("linear", bias=0, **HARD), "no classifier without training error was "),
        (BayesPointClassifier("linear", sampler="billiard", **HARD), "no classifier without training"),
        (BayesPointClassifier("linear", sampler="gibbs", **HARD), "no classifier without training er"),
        (GaussianProcessBayesPointClassifier("linear", **HARD), "the output of point .* has no varia"),
    ],
)
def test_ways_out_are_parameters(machine, message):
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    with pytest.raises(ValueError, match=f"^{message}.*; give a larger soft_boundary( or noise_deviation)?$"):
        machine.fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("Estimator", [BayesPointClassifier, GaussianProcessBayesPointClassifier])
def test_a_point_without_a_sign(Estimator):
    machine = Estimator("linear", bias=0, soft_boundary="hard")
    message = r"^point 0 has k\(x, x\) = 0, .*; give a bias or a larger soft_boundary$"
    with pytest.raises(ValueError, match=message):
        machine.fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    "values, message",
    [
        (np.eye(4)[:, :3], "^X is 4 x 3, must be square"),
        (np.eye(4) - np.eye(4, k=1), r"^X at \(1, 0\) is 0 but at \(0, 1\) -1: must be symmetric"),
        (-np.eye(4), r"^X at \(0, 0\) is -1, must not be negative"),
        (np.ones((4, 4)) * 1e300, r"^X at \(0, 0\) is 1e\+300, must be finite and below"),
    ],
)
def test_matrices_of_kernel_values(values, message):
    with pytest.raises(ValueError, match=message):
        BayesPointClassifier("precomputed").fit(values, [0, 1, 0, 1])


def test_values_that_no_kernel_gives():
    values = np.ones((4, 4)) - 2 * np.eye(4)[::-1]
    machine = BayesPointClassifier("precomputed", sampler="billiard", soft_boundary=0.1)
    with pytest.raises(ValueError, match="^kernel: values are not positive semi-definite"):
        machine.fit(values, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="^kernel: factor has rank 0: every kernel value is zero"):
        GaussianProcessBayesPointClassifier("precomputed").fit(np.zeros((4, 4)), [0, 1, 0, 1])


def test_no_probabilities_of_two_rows():
    machine = BayesPointClassifier("linear").fit([[0.0], [1.0]], [0, 1])
    for ask in (machine.predict_proba, machine.predict_log_proba):
        with pytest.raises(ValueError, match="^probabilities are not known: .*; fit to more rows$"):
            ask([[0.0]])


def test_a_damaged_pickle(squares):
    state = BayesPointClassifier(draws=3).fit(*squares).__getstate__()
    kind, model = state["_model"]
    for place in (40, len(model) // 2):  # Of its header, which the message quotes, and numbers.
        damaged = bytearray(model)
        damaged[place] ^= 255
        with pytest.raises(ValueError, match="the model"):
            BayesPointClassifier().__setstate__(state | {"_model": (kind, bytes(damaged))})

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
    with pytest.raises(ValueError, match="^probabilities are not known: fit with soft_boundary='auto"):
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
    with pytest.raises(ValueError, match="^reject: rate is 1, must be at least 0 and below 1"):
        machine.reject(X, rate=1)
    with pytest.raises(ValueError, match="delta is 0.0, must lie between 0 and 1"):
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


def test_deformations():
    images = np.zeros((2, 28, 28), dtype=np.uint8)
    for words, message in (
        ({"affine": -1}, "^affine is -1, must lie in"),
        ({"width": 0}, "^width is 0, must lie in"),
    ):
        with pytest.raises(ValueError, match=message):
            elastic_copies(images, **words)
    with pytest.raises(ValueError, match="^images are 28 x 7, must be 8 x 8 or larger"):
        gradient_features(images[:, :, :7])


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
    with pytest.raises(ValueError, match="^diagonal has 3 entries, expected 300"):
        machine.predict_proba(X @ X.T, np.ones(3))
