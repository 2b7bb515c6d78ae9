# SPDX-License-Identifier: MIT
"""The estimators are scikit-learn's, as its own tools see them."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from bpm import (
    BayesPointClassifier,
    BayesPointClassifierCV,
    FitWarning,
    GaussianProcessBayesPointClassifier,
)

ESTIMATORS = [BayesPointClassifier, GaussianProcessBayesPointClassifier]
KERNELS = ["linear", "polynomial", "gaussian", "laplacian", "arc_cosine"]


@parametrize_with_checks(
    [BayesPointClassifier(), BayesPointClassifierCV(), GaussianProcessBayesPointClassifier()]
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sampler", ["perceptron", "billiard", "gibbs", None])
def test_every_kernel_and_sampler(squares, kernel, sampler):
    X, y = squares[0][:100], squares[1][:100]
    X = X + np.column_stack((np.sign(X[:, 0] * X[:, 1]), X[:, 0] * 0))  # Which a line separates.
    if sampler is None:
        machine = GaussianProcessBayesPointClassifier(kernel)
    else:
        machine = BayesPointClassifier(kernel, sampler=sampler, draws=10)
    machine.fit(X, y)
    assert machine.score(X, y) > 0.95
    assert list(machine.classes_) == ["other", "same"]
    assert set(machine.predict(X)) == {"other", "same"}
    assert np.array_equal(machine.decision_function(X) > 0, machine.predict(X) == "same")
    probabilities = machine.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(machine.classes_[probabilities.argmax(axis=1)], machine.predict(X))


def test_gamma_and_width_say_the_same(squares):
    X, y = squares
    for kernel, gamma, width in (("gaussian", 4.0, 0.5), ("laplacian", 2.0, 0.5)):
        first = BayesPointClassifier(kernel, gamma=gamma).fit(X, y)
        second = BayesPointClassifier(kernel, width=width).fit(X, y)
        assert np.allclose(first.decision_function(X), second.decision_function(X), atol=1e-9)
    kernel = np.exp(-4 * ((X[:, None] - X) ** 2).sum(axis=2))
    own = BayesPointClassifier("precomputed", soft_boundary=0.1).fit(kernel, y)
    same = BayesPointClassifier(gamma=4.0, soft_boundary=0.1, bias=0).fit(X, y)
    assert np.allclose(own.decision_function(kernel), same.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("name, ours", [("rbf", "gaussian"), ("poly", "polynomial")])
@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_kernels_by_the_names_of_scikit_learn(squares, Estimator, name, ours):
    X, y = squares[0][:100], squares[1][:100]
    named, own = (Estimator(kernel, gamma=0.7).fit(X, y) for kernel in (name, ours))
    assert np.array_equal(named.decision_function(X), own.decision_function(X))
    assert named.get_params()["kernel"] == name


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_scale_and_auto_mean_what_they_do_in_an_svc(squares, kernel, kind):
    X, y = squares
    X = kind(np.hstack([3 * X, X[:, :1] ** 2]))
    for gamma in ("scale", "auto"):
        words = {"gamma": gamma, "coef0": 1.0, "degree": 3}
        number = SVC(kernel=kernel, **words).fit(X, y)._gamma
        machine = BayesPointClassifier(kernel, draws=2, **words).fit(X, y)
        same = BayesPointClassifier(kernel, draws=2, **words | {"gamma": number}).fit(X, y)
        assert np.allclose(machine.decision_function(X), same.decision_function(X), atol=1e-6)


def test_scale_is_of_rows_as_the_kernel_sees_them(squares):
    X, y = squares
    words = {"unit_inputs": True, "draws": 2}
    number = 1 / (2 * normalize(X).var())
    machine = BayesPointClassifier(gamma="scale", **words).fit(X, y)
    same = BayesPointClassifier(gamma=number, **words).fit(X, y)
    assert np.allclose(machine.decision_function(X), same.decision_function(X), atol=1e-6)
    assert BayesPointClassifier("poly", gamma="scale").fit(np.ones((6, 1)), [0, 1] * 3)  # As if 1.


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_logarithms_of_probabilities(Estimator):
    X, y = load_iris(return_X_y=True)
    machine = Estimator(width=2.0).fit(X, y)
    assert np.array_equal(machine.predict_log_proba(X), np.log(machine.predict_proba(X)))
    assert not hasattr(BayesPointClassifier(soft_boundary=0.1), "predict_log_proba")


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_tools(Estimator):
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(Estimator(), X, y).mean() > 0.9
    pipeline = make_pipeline(StandardScaler(), Estimator())
    search = GridSearchCV(pipeline, {f"{Estimator.__name__.lower()}__width": [0.3, 2.0]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.9
    calibrated = CalibratedClassifierCV(Estimator(), cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (150, 3)
    machine = Estimator(width=2.0).fit(X, y)
    copy = clone(machine)
    assert copy.get_params() == machine.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(X)


def test_precomputed_kernels_are_cut_by_rows_and_columns():
    X, y = load_iris(return_X_y=True)
    scores = cross_val_score(BayesPointClassifier("precomputed"), X @ X.T + 1, y, cv=5)
    assert scores.mean() > 0.9


def test_columns_of_a_data_frame():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    machine = BayesPointClassifier().fit(X, y.map({0: "setosa", 1: "versicolor", 2: "virginica"}))
    assert list(machine.feature_names_in_) == list(X.columns)
    assert machine.n_features_in_ == 4
    assert machine.predict(X)[0] == "setosa"
    with pytest.raises(ValueError, match="feature names"):
        machine.predict(X[X.columns[::-1]])
    assert isinstance(X, pandas.DataFrame)


def test_seeds(squares):
    X, y = squares

    def values(random_state):
        machine = BayesPointClassifier(width=0.5, draws=2, random_state=random_state)
        return machine.fit(X, y).decision_function(X)

    assert np.array_equal(values(7), values(7))
    assert not np.array_equal(values(7), values(8))
    first = values(np.random.RandomState(3))
    assert np.array_equal(first, values(np.random.RandomState(3)))
    np.random.seed(5)
    first = values(None)
    np.random.seed(5)
    assert np.array_equal(first, values(None))


def test_class_weights_hold_on_to_a_rare_class():
    random = np.random.RandomState(0)
    X = np.concatenate([random.normal(0, 1, (400, 2)), random.normal(1.2, 1, (30, 2))])
    y = np.repeat(["common", "rare"], [400, 30])
    plain = BayesPointClassifier().fit(X, y)
    weighted = BayesPointClassifier(class_weight="balanced").fit(X, y)
    same = BayesPointClassifier(class_weight={"common": 430 / 800, "rare": 430 / 60}).fit(X, y)
    rare = [np.mean(machine.predict(X) == "rare") for machine in (plain, weighted)]
    assert rare[1] > rare[0]
    assert np.array_equal(weighted.decision_function(X), same.decision_function(X))


def test_weighted_probabilities_of_a_gaussian_process_are_said_to_be_weighted(squares):
    X, y = squares
    with pytest.warns(FitWarning, match="probabilities are those of the weighted classes"):
        GaussianProcessBayesPointClassifier(class_weight="balanced").fit(X[:50], y[:50])


def test_the_evidence_tells_kernels_apart(squares):
    X, y = squares
    good, bad = (GaussianProcessBayesPointClassifier(width=w).fit(X, y) for w in (0.7, 30.0))
    assert good.log_marginal_likelihood_value_ > bad.log_marginal_likelihood_value_
    assert good.log_marginal_likelihoods_.shape == (1,)


def test_warnings_of_the_library_are_warnings(squares):
    X, y = squares
    with pytest.warns(FitWarning, match="width is far from .*: leave width and gamma out") as told:
        BayesPointClassifier(width=1000.0).fit(X, y)
    assert {warning.filename for warning in told} == {__file__}  # The caller's line.
    with pytest.warns(FitWarning, match="alone: a StandardScaler brings them to one scale"):
        BayesPointClassifier().fit(np.hstack([X, X[:, :1], 1e4 * X[:, 1:]]), y)
    with pytest.warns(FitWarning, match="chains tell of different laws: make more draws$"):
        BayesPointClassifier(sampler="gibbs", width=0.5, soft_boundary=0.01).fit(X, y)
    assert issubclass(FitWarning, UserWarning)


def test_a_fit_warns_once(squares):
    X, y = squares
    scaled = np.hstack([X, X[:, :1], 1e4 * X[:, 1:]])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        machine = BayesPointClassifier(width=1e7).fit(scaled, y).add_draws(1)
    assert [warning.category for warning in told] == [FitWarning]
    assert len(machine.warnings_) >= 2  # Its width, and the columns' scales.
    assert str(told[0].message) == "; ".join(machine.warnings_)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FitWarning)
        with pytest.raises(FitWarning):
            machine.fit(scaled, y)
        assert BayesPointClassifier().fit(X, y).warnings_ == []


@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "precomputed"])
def test_pickles_predict_the_same_bits(squares, Estimator, kernel):
    X, y = squares
    if kernel == "precomputed":
        X = np.exp(-4 * ((X[:, None] - X) ** 2).sum(axis=2))
    machine = Estimator(kernel, n_jobs=1).fit(X, y)
    copy = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(copy.decision_function(X), machine.decision_function(X))
    assert np.array_equal(copy.predict(X), machine.predict(X))
    words = (X, np.ones(len(X))) if Estimator is not BayesPointClassifier else (X,)
    if kernel != "precomputed":
        words = (X,)
    assert np.array_equal(copy.predict_proba(*words), machine.predict_proba(*words))
    assert copy.get_params() == machine.get_params()
