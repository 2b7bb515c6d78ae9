# SPDX-License-Identifier: MIT
"""Draws that are added, threads, progress, and fits that are interrupted."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from bpm import BayesPointClassifier, GaussianProcessBayesPointClassifier
from bpm._classifiers import _threads


@pytest.mark.parametrize("sampler", ["perceptron", "billiard", "gibbs"])
def test_five_draws_and_five_are_ten(squares, sampler):
    X, y = squares
    words = {"sampler": sampler, "width": 0.5, "soft_boundary": 0.1}
    ten = BayesPointClassifier(draws=10, **words).fit(X, y)
    added = BayesPointClassifier(draws=5, **words).fit(X, y).add_draws(5)
    warm = BayesPointClassifier(draws=5, warm_start=True, **words).fit(X, y)
    warm.set_params(draws=10).fit(X.copy(), y)
    for machine in (added, warm):
        assert machine.n_draws_ == 10
        assert np.array_equal(machine.decision_function(X), ten.decision_function(X))


def test_a_warm_start_sees_what_was_changed_in_place(squares):
    X, y = squares
    weights = {label: 1.0 for label in np.unique(y)}
    words = {"draws": 3, "width": 0.5, "soft_boundary": 0.1}
    # A generator of random numbers is another after a fit, and yet the same.
    random = np.random.RandomState(1)
    again = BayesPointClassifier(random_state=random, warm_start=True, **words).fit(X, y)
    before = again.decision_function(X)
    assert np.array_equal(again.fit(X, y).decision_function(X), before)
    machine = BayesPointClassifier(class_weight=weights, warm_start=True, **words).fit(X, y)
    weights[y[0]] = 50.0
    fresh = BayesPointClassifier(class_weight=weights, **words).fit(X, y)
    assert np.array_equal(machine.fit(X, y).decision_function(X), fresh.decision_function(X))
    labels = y.copy()
    machine.fit(X, labels)
    labels[:] = labels[::-1].copy()
    fresh.fit(X, labels)
    assert np.array_equal(machine.fit(X, labels).decision_function(X), fresh.decision_function(X))
    inputs = X.copy()
    machine.fit(inputs, labels)
    inputs[:] = inputs[::-1].copy()
    fresh.fit(inputs, labels)
    machine.fit(inputs, labels)
    assert np.array_equal(machine.decision_function(X), fresh.decision_function(X))


def test_more_draws_keep_the_soft_boundary(squares):
    X, y = squares
    machine = BayesPointClassifier(draws=2, width=0.5).fit(X, y)
    chosen = machine.soft_boundary_
    machine.set_params(soft_boundary=7.0).add_draws(1)
    assert machine.soft_boundary_ == chosen


def test_a_warm_start_goes_on_from_the_same_alone(squares):
    X, y = squares
    words = {"width": 0.5, "soft_boundary": 0.1, "warm_start": True}
    warm = BayesPointClassifier(draws=5, **words).fit(X, y)
    assert warm.fit(X, y).n_draws_ == 5
    with pytest.raises(ValueError, match="draws is 3, must be 5 or more"):
        warm.set_params(draws=3).fit(X, y)
    assert warm.n_draws_ == 5
    other = X + 0.01
    warm.set_params(draws=8).fit(other, y)
    fresh = BayesPointClassifier(draws=8, **words).fit(other, y)
    assert np.array_equal(warm.decision_function(X), fresh.decision_function(X))
    warm.set_params(width=0.6).fit(other, y)
    fresh.set_params(width=0.6, warm_start=False).fit(other, y)
    assert np.array_equal(warm.decision_function(X), fresh.decision_function(X))


def test_a_pickle_holds_no_training(squares):
    X, y = squares
    machine = BayesPointClassifier(draws=5, width=0.5, warm_start=True).fit(X, y)
    copy = pickle.loads(pickle.dumps(machine))
    with pytest.raises(ValueError, match="add_draws: the estimator has a model alone"):
        copy.add_draws(1)
    assert copy.n_draws_ == 5
    copy.set_params(draws=6).fit(X, y)  # Begins anew, to the same draws.
    assert np.array_equal(
        copy.decision_function(X), machine.add_draws(1).decision_function(X)
    )


def test_a_certificate_is_of_one_model(squares):
    X, y = squares
    machine = BayesPointClassifier(draws=5, width=0.5).fit(X[:200], y[:200])
    machine.certify_risk(X[200:], y[200:], 0.2, 0.1)
    for wrong in (y[200:201], y[201:]):
        with pytest.raises(ValueError, match=rf"certify_risk: y has {len(wrong)} entries, expected"):
            machine.certify_risk(X[200:], wrong)
    machine.add_draws(1)
    assert not hasattr(machine, "certified_risk_")


def test_threads_do_not_change_the_model(squares):
    X, y = squares
    one, two = (BayesPointClassifier(width=0.5, n_jobs=n).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


def test_what_n_jobs_means(squares):
    assert _threads(None) == 0  # All processors,
    assert Parallel(n_jobs=2)(delayed(_threads)(None) for _ in range(2)) == [1, 1]  # shared here.
    assert _threads(3) == 3
    assert _threads(-1) >= 1
    X, y = squares
    grid = {"width": [0.3, 0.5]}
    alone = GridSearchCV(BayesPointClassifier(draws=3), grid, cv=3).fit(X, y)
    beside = GridSearchCV(BayesPointClassifier(draws=3), grid, cv=3, n_jobs=2).fit(X, y)
    scores = [search.cv_results_["mean_test_score"] for search in (alone, beside)]
    assert np.array_equal(*scores)


def test_progress_is_told_on_standard_error(squares, capfd):
    X, y = squares
    BayesPointClassifier(sampler="billiard", draws=4000, width=0.5, verbose=1).fit(X, y)
    said = capfd.readouterr()
    assert said.out == ""
    assert "[BayesPointClassifier] " in said.err and "%" in said.err
    BayesPointClassifier(width=0.5).fit(X, y)
    assert capfd.readouterr().err == ""


def test_others_run_while_a_fit_does(squares):
    X, y = squares
    counted = []
    machine = BayesPointClassifier(sampler="billiard", draws=3000, width=0.5, n_jobs=1)
    worker = threading.Thread(target=machine.fit, args=(X, y))
    worker.start()
    while worker.is_alive():
        counted.append(time.monotonic())
        time.sleep(0.001)
    assert len(counted) > 20
    assert machine.score(X, y) > 0.9


class Interrupted:
    """Sends what Ctrl-C does, after so many seconds."""

    def __init__(self, seconds):
        self.timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))

    def __enter__(self):
        self.timer.start()
        self.begin = time.monotonic()

    def __exit__(self, *error):
        self.timer.cancel()
        assert time.monotonic() - self.begin < 30


ENDLESS = [
    BayesPointClassifier(draws=10**8, soft_boundary=0.1),
    BayesPointClassifier(draws=10**8),
    BayesPointClassifier(sampler="billiard", draws=10**8),
    BayesPointClassifier(sampler="gibbs", draws=10**8),
]


@pytest.mark.parametrize("machine", ENDLESS)
def test_an_interrupted_fit_leaves_nothing(squares, machine):
    X, y = squares
    machine.set_params(keep_interrupted=False)
    with pytest.raises(KeyboardInterrupt), Interrupted(0.5):
        machine.fit(X, y)
    with pytest.raises(NotFittedError):
        machine.predict(X)
    assert [name for name in vars(machine) if name.endswith("_")] == []


@pytest.mark.parametrize("machine", ENDLESS)
def test_or_the_draws_so_far(squares, machine):
    X, y = squares
    machine.set_params(keep_interrupted=True, soft_boundary=0.1)
    with pytest.raises(KeyboardInterrupt), Interrupted(2):
        machine.fit(X, y)
    assert 0 < machine.n_draws_ < 10**8
    assert machine.score(X, y) > 0.8
    draws = machine.n_draws_ + 2
    assert machine.set_params(warm_start=True, draws=draws).fit(X, y).n_draws_ == draws
    machine.set_params(warm_start=False, draws=10**8)


def test_interrupted_before_the_first_draw_there_is_nothing_to_keep():
    random = np.random.RandomState(0)
    X = random.normal(size=(1500, 5))
    y = random.randint(2, size=1500)
    machine = GaussianProcessBayesPointClassifier(width=1.0)
    with pytest.raises(KeyboardInterrupt), Interrupted(0.1):
        for _ in range(100):
            machine.fit(X, y)
    with pytest.raises(NotFittedError):
        machine.predict(X)


def test_interrupted_more_draws_leave_those_before(squares):
    X, y = squares
    machine = BayesPointClassifier(draws=5, width=0.5).fit(X, y)
    before = machine.decision_function(X)
    with pytest.raises(KeyboardInterrupt), Interrupted(0.3):
        machine.add_draws(10**8)
    assert machine.n_draws_ == 5
    assert np.array_equal(machine.decision_function(X), before)
    machine.keep_interrupted = True
    with pytest.raises(KeyboardInterrupt), Interrupted(0.3):
        machine.add_draws(10**8)
    assert machine.n_draws_ > 5
