# SPDX-License-Identifier: MIT
"""Rejection, and risks that are guaranteed."""

import numpy as np
import pytest

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
    assert certified["upper_limit"] <= 0.03 and 0 < certified["coverage"] < 1
    X, y = noisy(20000, 3)
    kept = ~machine.reject(X, risk=0.03)
    assert kept.mean() == pytest.approx(certified["coverage"], abs=0.05)
    assert 1 - machine.score(X[kept], y[kept]) <= 0.03


def test_without_a_threshold_everything_is_rejected(machine):
    X, y = noisy(50, 2)
    certified = machine.certify_risk(X, y, risk=0.001, delta=0.01)
    assert not certified["found"] and "not with these data" in certified["message"]
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
