# SPDX-License-Identifier: MIT
"""What is chosen where parameters are left out, and the estimator that searches."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bpm import BayesPointClassifier, BayesPointClassifierCV, FitWarning


def board(count, seed):
    """Two classes on a board of 6 x 6 squares: the best width is far below the median distance."""
    random = np.random.RandomState(seed)
    X = random.uniform(0, 6, (count, 2))
    return X, X.astype(int).sum(axis=1) % 2


def test_the_width_is_chosen_where_it_is_left_out():
    X, y = board(800, 0)
    others, labels = board(2000, 1)
    chosen = BayesPointClassifier().fit(X, y)
    usual = BayesPointClassifier(width=0.7 * np.median(np.linalg.norm(X[:400] - X[400:], axis=1)))
    assert chosen.width_ < 0.3 * usual.width
    assert chosen.score(others, labels) > usual.fit(X, y).score(others, labels) + 0.1
    assert chosen.bias_ in (0.0, 0.3, 1.0)
    # The same machine where what was chosen is given.
    same = BayesPointClassifier(width=chosen.width_, bias=chosen.bias_).fit(X, y)
    assert same.soft_boundary_ == chosen.soft_boundary_
    assert np.array_equal(same.predict(others), chosen.predict(others))


def test_more_draws_keep_what_was_chosen():
    X, y = board(300, 0)
    few = BayesPointClassifier(draws=2).fit(X, y)
    width = few.width_
    few.add_draws(3)
    assert few.width_ == width
    assert np.array_equal(
        few.decision_function(X), BayesPointClassifier(draws=5).fit(X, y).decision_function(X)
    )


def test_many_rows_of_doubles_become_floats_where_these_tell_them_apart():
    X, y = board(5000, 0)
    words = {"width": 0.5, "soft_boundary": 1.0, "draws": 1}
    near = BayesPointClassifier(**words).fit(X, y)
    same = BayesPointClassifier(**words).fit(X.astype(np.float32), y)
    assert np.array_equal(near.decision_function(X), same.decision_function(X))
    far = X + 1e6
    machine = BayesPointClassifier(**words).fit(far, y)
    assert machine.score(far, y) > 0.9
    big = pytest.raises(ValueError, match="numbers that are none of float32")
    with big:
        near.predict(np.full((1, 2), 1e39))
    assert BayesPointClassifier(**words).fit(X[:4999], y[:4999]).predict([[1e39, 0.0]]).shape == (1,)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy"])
def test_the_search_takes_the_best(scoring):
    X, y = board(500, 0)
    machine = BayesPointClassifierCV(scoring=scoring, one_against_one=False).fit(X, y)
    results = machine.cv_results_
    assert machine.best_params_ == results["params"][machine.best_index_]
    assert machine.best_params_["width"] == machine.width_
    assert machine.best_params_["bias"] == machine.bias_
    assert machine.best_score_ == results["mean_test_score"][machine.best_index_]
    ranks = results["rank_test_score"]
    assert sorted(ranks) == list(range(1, len(ranks) + 1))
    best = results["mean_test_score"][ranks == 1][0]
    # Those within a tenth of the best one's standard error are as good, and the softest of them wins.
    assert best >= machine.best_score_ >= best - 0.1 * results["standard_error"][ranks == 1][0]
    # The score is that of folds: a fit on all rows errs about as often on others.
    if scoring == "accuracy":
        others, labels = board(4000, 1)
        assert machine.score(others, labels) == pytest.approx(machine.best_score_, abs=0.05)


def test_the_search_tries_what_it_is_given():
    X, y = board(300, 0)
    machine = BayesPointClassifierCV(widths=[3.0, 0.5], biases=[0.3], cv=3).fit(X, y)
    tried = {params["width"] for params in machine.cv_results_["params"]}
    assert tried == {0.5, 3.0}
    assert {params["bias"] for params in machine.cv_results_["params"]} == {0.3}
    assert machine.width_ == 0.5
    degrees = BayesPointClassifierCV("poly", degrees=(1, 4), biases=(0.0, 1.0)).fit(X, y)
    assert {params["degree"] for params in degrees.cv_results_["params"]} == {1, 4}
    linear = BayesPointClassifierCV("linear").fit(X, y)
    assert sorted(linear.best_params_) == ["bias", "one_against_one", "soft_boundary"]


def test_the_search_tries_pairs_of_classes():
    # A ring between two others: its border with each is simple, that with both is not.
    random = np.random.RandomState(0)
    X = random.normal(size=(1200, 4))
    y = np.digitize(np.linalg.norm(X, axis=1) + random.normal(0, 0.1, 1200), [1.4, 1.9, 2.4])
    machine = BayesPointClassifierCV(widths=[3.0]).fit(X[:600], y[:600])
    pairs = [params["one_against_one"] for params in machine.cv_results_["params"]]
    assert any(pairs) and not all(pairs)
    assert machine.best_params_["one_against_one"]
    assert machine.score(X[600:], y[600:]) > 0.75
    again = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(again.predict_proba(X), machine.predict_proba(X))
    with pytest.raises(ValueError, match="add_draws: the estimator has a model alone"):
        machine.add_draws(1)


def test_the_search_in_a_pipeline_and_in_folds():
    X, y = load_iris(return_X_y=True)
    machine = make_pipeline(StandardScaler(), BayesPointClassifierCV(draws=2))
    assert cross_val_score(machine, X, y, cv=3).mean() > 0.9


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"kernel": "laplacian"}, "kernel is 'laplacian', must be one of gaussian, rbf"),
        ({"scoring": "f1"}, "scoring is 'f1', must be one of neg_log_loss, accuracy"),
        ({"cv": 1}, "cv is 1, must be a whole number, 2 to"),
        ({"cv": 1000}, "cv is 1000, but X has n_samples = 300 that are not alone"),
        ({"biases": []}, "biases is empty, must hold one or more"),
        ({"widths": []}, "widths is empty, must hold one or more"),
        ({"kernel": "poly", "degrees": []}, "degrees is empty, must hold one or more"),
        ({"widths": [-1.0]}, "^width is -1, must be positive"),
        ({"widths": [1.0], "gamma": 1.0}, "widths is given, which the kernel 'gaussian' has not, or"),
        ({"kernel": "linear", "widths": [1.0]}, "widths is given, which the kernel 'linear' has not"),
    ],
)
def test_what_the_search_refuses(words, message):
    X, y = board(300, 0)
    with pytest.raises(ValueError, match=message):
        BayesPointClassifierCV(**words).fit(X, y)


def test_the_search_names_the_label_noise_of_the_gibbs_sampler():
    X, y = board(60, 0)
    machine = BayesPointClassifierCV(widths=[1.0], biases=[0.0], sampler="gibbs", draws=5).fit(X, y)
    assert machine.best_params_["label_noise"] == machine.label_noise_
    params = machine.cv_results_["params"]
    assert len({tuple(sorted(one.items())) for one in params}) == len(params)


def test_the_search_of_given_widths_needs_no_median():
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    machine = BayesPointClassifierCV(widths=[1.0, 2.0]).fit(X, y)
    assert machine.width_ in (1.0, 2.0)


def test_the_warning_names_the_line_of_the_fit():
    X, y = np.random.RandomState(0).normal(size=(60, 2)), np.arange(60) % 2
    for machine in (BayesPointClassifier(), BayesPointClassifierCV()):
        with pytest.warns(FitWarning) as caught:
            machine.fit(X, y)
        assert caught[0].filename == __file__


def test_class_weights_outlast_other_parameters():
    X, y = board(300, 0)
    machine = BayesPointClassifier(class_weight={1: 3.0}).fit(X, y)
    labels = machine.predict(X)
    assert np.array_equal(machine.set_params(soft_boundary=1.0).predict(X), labels)


def test_class_weights_weigh_probabilities():
    random = np.random.RandomState(0)
    rare = random.uniform(size=3000) < 1 / 21
    X = random.normal(size=(3000, 5)) + 0.9 * rare[:, None]
    train, rest = slice(0, 1500), slice(1500, None)
    plain = BayesPointClassifier().fit(X[train], rare[train])
    weighted = BayesPointClassifier(class_weight={True: 9.0}).fit(X[train], rare[train])
    p = plain.predict_proba(X[rest])[:, 1]
    assert np.array_equal(weighted.predict_proba(X[rest])[:, 1], p)
    assert np.array_equal(weighted.predict(X[rest]), 9 * p > 1 - p)
    expected = np.log(9 * p) - np.log1p(-p)
    assert np.allclose(weighted.decision_function(X[rest]), expected)
    again = pickle.loads(pickle.dumps(weighted))
    assert np.array_equal(again.predict(X[rest]), weighted.predict(X[rest]))
    balanced = BayesPointClassifier(class_weight="balanced").fit(X[train], rare[train])
    assert balanced.predict(X[rest])[rare[rest]].mean() > 0.6
    assert plain.predict(X[rest])[rare[rest]].mean() < 0.4
