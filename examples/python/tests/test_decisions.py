# SPDX-License-Identifier: MIT
"""Rejection, and risks that are guaranteed."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse

from bpm import BayesPointClassifier, GaussianProcessBayesPointClassifier


def noisy(count, seed):
    """One label in twelve is wrong, near the border more."""
    random = np.random.RandomState(seed)
    X = random.uniform(-1, 1, (count, 2))
    return X, np.where(X[:, 0] + X[:, 1] + random.normal(0, 0.15, count) > 0, "up", "down")


@pytest.fixture(scope="module", params=[BayesPointClassifier, GaussianProcessBayesPointClassifier])
def machine(request):
    return request.param().fit(*noisy(300, 0))


def test_a_share_is_rejected_of_the_smallest_gaps(machine):
    X, y = noisy(1000, 1)
    rejected = machine.reject(X, rate=0.1)
    assert rejected.dtype == bool and rejected.sum() == 100
    size = np.abs(machine.decision_function(X))
    assert size[rejected].max() <= size[~rejected].min()
    assert machine.score(X[~rejected], y[~rejected]) > machine.score(X, y)


def test_an_expected_error_is_kept(machine):
    X, _ = noisy(1000, 1)
    kept = ~machine.reject(X, error=0.02)
    wrong = 1 - machine.predict_proba(X).max(axis=1)
    assert 0 < kept.sum() < 1000
    assert wrong[kept].mean() <= 0.02
    assert not machine.reject(X, error=1.0).any()


def test_a_risk_is_guaranteed(machine):
    certified = machine.certify_risk(*noisy(2000, 2), risk=0.03, delta=0.05)
    assert certified["found"] and certified["risk"] == 0.03
    assert 0 < certified["coverage"] < 1
    assert "risk at most 0.03 with confidence 0.95" in certified["message"]
    X, y = noisy(20000, 3)
    kept = ~machine.reject(X, risk=0.03)
    assert kept.mean() == pytest.approx(certified["coverage"], abs=0.05)
    assert 1 - machine.score(X[kept], y[kept]) <= 0.03


@pytest.mark.parametrize("weights", [None, {"up": 20}])
def test_an_expected_error_is_of_the_class_that_is_said(weights):
    X, y = noisy(600, 3)
    machine = BayesPointClassifier(class_weight=weights).fit(X, y)
    rows, _ = noisy(2000, 4)
    said = np.searchsorted(machine.classes_, machine.predict(rows))
    p = machine.predict_proba(rows)[np.arange(len(rows)), said]
    for error in (0.05, 0.2):
        kept = ~machine.reject(rows, error=error)
        # As many as there can be: the most probable ones.
        within = np.cumsum(1 - np.sort(p)[::-1]) <= error * np.arange(1, len(p) + 1)
        assert kept.sum() == np.max(np.nonzero(within)[0], initial=-1) + 1
        assert not kept.any() or (1 - p[kept]).mean() <= error


def test_a_guarantee_is_of_the_classes_that_were_fitted(machine):
    X, y = noisy(50, 2)
    with pytest.raises(ValueError, match="certify_risk: y has the label 7, which no row had in fit"):
        machine.certify_risk(X, np.full(len(y), 7))
    machine.certify_risk(X, y, risk=np.float32(0.3))
    machine.reject(X, risk=float(np.float32(0.3)))


def test_rows_that_trained_guarantee_nothing(machine):
    X, y = noisy(300, 0)
    machine.certify_risk(*noisy(100, 2), risk=0.3)
    before = machine.certified_risk_
    same = [machine, pickle.loads(pickle.dumps(machine))]
    for one in same:
        with pytest.raises(ValueError, match="300 of the 300 rows of X trained as well: a guarantee"):
            one.certify_risk(X, y, risk=0.3)
        assert one.certified_risk_ == before
    new, labels = noisy(100, 2)
    with pytest.warns(UserWarning, match="10 of the 110 rows of X trained as well: the guarantee"):
        machine.certify_risk(np.vstack([X[:10], new]), np.append(y[:10], labels), risk=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine.certify_risk(new, labels, risk=0.3)


def test_rows_that_trained_are_known_however_they_are_kept():
    X, y = noisy(60, 0)
    X[::2, 0] = 0
    minus = np.where(X == 0, -0.0, X)
    for fitted, asked in ((sparse.csr_matrix(X), minus), (minus, sparse.csr_matrix(X))):
        machine = BayesPointClassifier("linear").fit(fitted, y)
        with pytest.raises(ValueError, match="a guarantee needs rows that train nothing"):
            machine.certify_risk(asked, y)
    machine = BayesPointClassifier().fit(X.astype(np.float32), y)  # Queries are rounded as well.
    with pytest.raises(ValueError, match="a guarantee needs rows that train nothing"):
        machine.certify_risk(X, y)


def test_rows_of_few_kinds_are_equal_by_chance():
    random = np.random.RandomState(0)
    X = random.randint(0, 3, (400, 2)).astype(float)
    y = (X.sum(axis=1) + random.normal(0, 0.5, 400) > 2).astype(int)
    machine = BayesPointClassifier().fit(X[:200], y[:200])
    with pytest.warns(UserWarning, match="the guarantee holds if that is chance"):
        assert "found" in machine.certify_risk(X[200:], y[200:], risk=0.3)


def test_without_a_threshold_everything_is_rejected(machine):
    X, y = noisy(50, 2)
    certified = machine.certify_risk(X, y, risk=0.001, delta=0.01)
    assert not certified["found"] and "a threshold takes at least" in certified["message"]
    assert machine.reject(X, risk=0.001).all()


def test_a_posterior_of_a_matrix_of_ones_own(squares):
    X, y = squares
    kernel = np.exp(-4 * ((X[:, None] - X) ** 2).sum(axis=2))
    machine = GaussianProcessBayesPointClassifier("precomputed").fit(kernel[:200, :200], y[:200])
    cross = kernel[200:, :200]
    assert machine.score(cross, y[200:]) > 0.85
    same = GaussianProcessBayesPointClassifier(gamma=4.0, bias=0).fit(X[:200], y[:200])
    expected = same.predict_proba(X[200:])
    assert np.allclose(machine.predict_proba(cross, np.ones(100)), expected, atol=1e-6)
    with pytest.raises(ValueError, match="diagonal is None, must hold k"):
        machine.predict_proba(cross)


def test_class_weights_of_classes_that_a_fold_lacks():
    X, y = noisy(300, 1)
    names = np.unique(y)
    weights = {name: 2.0 for name in names} | {"elsewhere": 5.0}
    machine = BayesPointClassifier(class_weight=weights, random_state=1).fit(X, y)
    del weights["elsewhere"]
    same = BayesPointClassifier(class_weight=weights, random_state=1).fit(X, y)
    assert np.array_equal(machine.decision_function(X), same.decision_function(X))


def test_no_expected_error_without_the_diagonal():
    X, y = noisy(200, 1)
    K = X @ X.T + 1
    machine = GaussianProcessBayesPointClassifier("precomputed").fit(K, y)
    with pytest.raises(ValueError, match="a precomputed kernel lacks k\\(x, x\\) of the rows"):
        machine.reject(K, error=0.1)
    assert machine.reject(K, rate=0.1).sum() == 20
