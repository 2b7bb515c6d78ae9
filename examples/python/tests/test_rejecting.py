# SPDX-License-Identifier: MIT
"""Risks that are guaranteed around any classifier."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from bpm import BayesPointClassifier, FitWarning, RejectingClassifier, _rejection


def right(X):
    """The probability of 1 on a line."""
    return 1 / (1 + np.exp(-6 * X[:, 0]))


def line(count, seed):
    random = np.random.RandomState(seed)
    X = random.uniform(-1, 1, (count, 1))
    return X, (random.uniform(size=count) < right(X)).astype(int)


class ByMean(ClassifierMixin, BaseEstimator):
    """As another library has them: probabilities and no outputs."""

    def fit(self, X, y, middle=0.0):
        self.classes_ = np.unique(y)
        self.middle_ = np.mean(middle)
        return self

    def predict_proba(self, X):
        p = np.clip(0.5 + 0.4 * (np.asarray(X)[:, 0] - self.middle_), 0, 1)
        return np.column_stack((1 - p, p))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@parametrize_with_checks(
    [RejectingClassifier(LogisticRegression()), RejectingClassifier(BayesPointClassifier(draws=3))]
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def broken(estimator, risk, delta, repetitions):
    """Of so many training sets the share whose accepted rows are wrong more often than `risk`, and
    the mean share that is accepted: exactly, but for the grid."""
    grid = np.linspace(-1, 1, 2001)[:, None]
    shares = []
    failed = 0
    for seed in range(repetitions):
        machine = RejectingClassifier(
            estimator, risk=risk, delta=delta, held_out=0.6, random_state=seed
        ).fit(*line(500, seed))
        accepted = ~machine.reject(grid)
        p = right(grid)
        wrong_of = np.where(machine.predict(grid) == 1, 1 - p, p)
        failed += bool(accepted.any() and wrong_of[accepted].mean() > risk)
        shares.append(accepted.mean())
    return failed / repetitions, np.mean(shares)


@pytest.mark.parametrize("estimator", [LogisticRegression(), ByMean()])
@pytest.mark.filterwarnings("ignore::bpm.FitWarning")
def test_the_guarantee_breaks_no_more_often_than_delta(estimator, monkeypatch):
    risk, delta, repetitions = 0.08, 0.1, 400
    error = 3 * np.sqrt(delta * (1 - delta) / repetitions)
    share, coverage = broken(estimator, risk, delta, repetitions)
    assert share <= delta + error
    assert 0.4 < coverage < 0.9

    def by_error_alone(scores, correct, risk, delta):
        """As many rows as keep the risk on these rows themselves."""
        order = np.argsort(scores)[::-1]
        wrong = np.cumsum(~np.asarray(correct)[order]) / np.arange(1, len(order) + 1)
        threshold = np.asarray(scores)[order][np.nonzero(wrong <= risk)[0].max()]
        return {"found": True, "threshold": threshold}

    monkeypatch.setattr(_rejection._native, "certify_risk", by_error_alone)
    share, _ = broken(estimator, risk, delta, repetitions)
    assert share > delta + 3 * error


@pytest.mark.filterwarnings("ignore::bpm.FitWarning")
def test_it_certifies_what_it_did_not_train():
    X, y = line(1000, 1)
    machine = RejectingClassifier(LogisticRegression(), held_out=0.3).fit(X, y)
    found = machine.certified_risk_
    assert (found["risk"], found["delta"]) == (0.05, 0.01)
    assert found["found"] and 0 < found["coverage"] < 1
    assert found["accepted"] == round(300 * found["coverage"])
    accepted = ~machine.reject(X)
    gaps = np.abs(machine.decision_function(X))
    assert gaps[accepted].min() >= found["threshold"] > gaps[~accepted].max()
    assert np.array_equal(machine.predict(X), machine.estimator_.predict(X))
    assert machine.score(X, y) == machine.estimator_.score(X, y)
    for name in ("predict_proba", "predict_log_proba"):
        assert np.array_equal(getattr(machine, name)(X), getattr(machine.estimator_, name)(X))
    assert machine.n_features_in_ == 1
    copy = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(copy.reject(X), machine.reject(X))
    other = RejectingClassifier(LogisticRegression(), held_out=0.3, random_state=2).fit(X, y)
    assert other.certified_risk_["threshold"] != found["threshold"]


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(50, min_samples_leaf=20, random_state=0),
        LinearSVC(dual=False),
        make_pipeline(StandardScaler(), SVC()),
        BayesPointClassifier(draws=3),
    ],
)
def test_any_classifier_of_three_classes(estimator):
    def rows(seed):
        random = np.random.RandomState(seed)
        y = random.choice(["one", "two", "three"], 1500)
        X = np.array([{"one": (0, 0), "two": (2, 0), "three": (0, 2)}[label] for label in y])
        return X + random.normal(0, 0.6, X.shape), y

    machine = RejectingClassifier(estimator, risk=0.05).fit(*rows(0))
    X, y = rows(1)
    accepted = ~machine.reject(X)
    assert 0.3 < accepted.mean() < 1
    assert np.mean(machine.predict(X)[accepted] != y[accepted]) <= 0.05
    assert machine.score(X, y) < 0.97
    assert list(machine.classes_) == ["one", "three", "two"]


def test_texts_in_a_pipeline():
    random = np.random.RandomState(0)
    y = random.randint(2, size=600)
    texts = [" ".join(random.choice(["red", "blue"], 9, p=(0.8, 0.2) if c else (0.2, 0.8))) for c in y]
    spoken = [f"{text} number {i}" for i, text in enumerate(texts)]  # No two are equal.
    machine = RejectingClassifier(make_pipeline(CountVectorizer(), LogisticRegression()))
    assert machine.fit(spoken, y).certified_risk_["coverage"] > 0.5
    machine.set_params(held_out=0).fit(spoken, y)
    with pytest.raises(ValueError, match="600 of the 600 rows of X trained as well: a guarantee"):
        machine.certify_risk(spoken, y)
    with pytest.warns(UserWarning, match="rows of X trained as well: the guarantee holds if") as told:
        machine.set_params(held_out=0.5).fit(texts, y)
    assert {warning.filename for warning in told} == {__file__}


def test_a_table_with_words():
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    X, y = line(500, 3)
    table = pandas.DataFrame({"word": np.where(X[:, 0] > 0.5, "far", "near"), "number": X[:, 0]})
    columns = make_column_transformer((OneHotEncoder(), ["word"]), (StandardScaler(), ["number"]))
    machine = RejectingClassifier(make_pipeline(columns, LogisticRegression()), risk=0.1)
    machine.fit(table, pandas.Series(y, index=table.index + 7))
    assert 0.1 < machine.reject(table).mean() < 0.9
    machine.set_params(held_out=0).fit(table, y)
    with pytest.raises(ValueError, match="500 of the 500 rows of X trained as well: a guarantee"):
        machine.certify_risk(table, y)


@pytest.mark.filterwarnings("ignore::bpm.FitWarning")
def test_searches_over_its_estimator():
    X, y = line(600, 4)
    machine = RejectingClassifier(make_pipeline(StandardScaler(), LogisticRegression()), risk=0.1)
    grid = {"estimator__logisticregression__C": [1e-4, 1.0]}
    assert GridSearchCV(machine, grid, cv=3).fit(X, y).best_score_ > 0.8

    def coverage(machine, X, y):
        return 1 - machine.reject(X).mean()

    within = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]})
    assert RejectingClassifier(within, risk=0.1).fit(X, y).estimator_.best_params_ == {"C": 1.0}
    best = GridSearchCV(machine, {"risk": [0.1, 0.15]}, scoring=coverage, cv=3).fit(X, y)
    assert best.best_params_ == {"risk": 0.15}


def test_rows_of_ones_own():
    X, y = line(300, 5)
    machine = RejectingClassifier(LogisticRegression(), held_out=0, risk=0.1).fit(X, y)
    assert np.array_equal(
        machine.decision_function(X), LogisticRegression().fit(X, y).decision_function(X)
    )
    with pytest.raises(ValueError, match="reject: there is no threshold: call certify_risk first"):
        machine.reject(X)
    new = line(1000, 6)
    assert machine.certify_risk(*new)["risk"] == 0.1
    assert machine.certify_risk(*new, risk=0.2)["coverage"] > machine.reject(X).mean()
    assert machine.certified_risk_["risk"] == 0.2
    fitted = RejectingClassifier(LogisticRegression().fit(X, y), prefit=True, risk=0.2).fit(*new)
    assert fitted.certified_risk_ == machine.certified_risk_
    machine.set_params(prefit=True, estimator=fitted.estimator).fit(X, y)  # Others trained before.
    machine.set_params(prefit=False).fit(X, y)
    assert not hasattr(machine, "certified_risk_")


def test_a_matrix_of_kernel_values():
    X, y = line(300, 7)
    machine = RejectingClassifier(SVC(kernel="precomputed"), risk=0.1)
    with pytest.raises(ValueError, match="held_out is above 0, must be 0 for an estimator on a"):
        machine.fit(X @ X.T, y)
    machine.set_params(held_out=0).fit(X @ X.T, y)
    Z, labels = line(500, 8)
    assert machine.certify_risk(Z @ X.T, labels)["found"]


@pytest.mark.parametrize("names, rejected", [(["a", "b"], "unsure"), ([0, 1], -1), ([0, 1], "unsure")])
def test_labels_of_rejected_rows(names, rejected):
    X, y = line(600, 9)
    y = np.array(names)[y]
    machine = RejectingClassifier(LogisticRegression(), rejected_label=rejected, risk=0.1).fit(X, y)
    said = machine.predict(X)
    assert np.array_equal(said == rejected, machine.reject(X))
    kept = ~machine.reject(X)
    assert np.array_equal(said[kept], machine.estimator_.predict(X)[kept])
    new, labels = line(500, 10)  # What is rejected is no error of a later certificate.
    again = machine.certify_risk(new, np.array(names)[labels])
    plain = RejectingClassifier(machine.estimator_, prefit=True, risk=0.1)
    assert again == plain.fit(new, np.array(names)[labels]).certified_risk_
    with pytest.raises(ValueError, match="must be no class of y"):
        machine.set_params(rejected_label=names[1]).fit(X, y)


@pytest.mark.filterwarnings("ignore::bpm.FitWarning")
def test_parameters_of_a_fit_are_those_of_the_rows_that_train():
    X, y = line(400, 10)
    middle = X[:, 0] - X[:, 0]
    middle[:] = np.arange(400)
    machine = RejectingClassifier(ByMean(), held_out=0.25).fit(X, y, middle=middle)
    assert machine.estimator_.middle_ != middle.mean()
    random = np.random.default_rng(1).permutation(400)
    assert machine.estimator_.middle_ == middle[random[:300]].mean()


def test_too_few_rows_reject_everything_and_say_so():
    X, y = line(100, 11)
    machine = RejectingClassifier(LogisticRegression())
    with pytest.warns(FitWarning, match="every row is rejected: no threshold .* guarantees the risk 0.05: a threshold takes at least"):
        machine.fit(X, y)
    assert machine.reject(X).all()


def test_held_out_rows_of_a_class_that_none_trains_are_wrong():
    X, y = line(400, 12)
    y = y.astype(object)
    y[np.random.default_rng(1).permutation(400)[350:353]] = "rare"  # Held out.
    machine = RejectingClassifier(LogisticRegression(), risk=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine.fit(X, y.astype(str))
    assert list(machine.classes_) == ["0", "1"]
    with pytest.raises(ValueError, match="certify_risk: y has the label 'rare', which no row had in"):
        machine.certify_risk(X, y.astype(str))


@pytest.mark.parametrize(
    "words, message",
    [
        ({"risk": 0}, "risk is 0, must lie between 0 and 1"),
        ({"delta": 1.5}, "delta is 1.5, must lie between 0 and 1"),
        ({"risk": "5%"}, "risk is '5%', must be a number"),
        ({"held_out": 1}, "held_out is 1, must be at least 0 and below 1"),
        ({"held_out": 0.001}, "X has n_samples = 200, of which held_out, 0.001, leaves none to train"),
        ({"estimator": LinearRegression()}, "estimator is a LinearRegression, must have decision_"),
        ({"random_state": -1}, "random_state is -1, must be a whole number"),
    ],
)
def test_parameters(words, message):
    machine = RejectingClassifier(LogisticRegression()).set_params(**words)
    with pytest.raises(ValueError, match=message):
        machine.fit(*line(200, 0))


def test_what_else_is_refused():
    X, y = line(200, 0)
    machine = RejectingClassifier(LogisticRegression())
    for ask in (machine.predict, machine.reject, machine.predict_proba):
        with pytest.raises(NotFittedError):
            ask(X)
    with pytest.raises(ValueError, match="requires y to be passed"):
        machine.fit(X, None)
    rare = np.zeros(200)
    rare[np.random.default_rng(1).permutation(200)[-1]] = 1
    with pytest.raises(ValueError, match="y has 1 class in the 100 rows that held_out leaves to"):
        machine.fit(X, rare)
    assert not hasattr(RejectingClassifier(LinearSVC()), "predict_proba")
    assert not hasattr(RejectingClassifier(ByMean()), "decision_function")
    with pytest.raises(NotFittedError):
        RejectingClassifier(LogisticRegression(), prefit=True).fit(X, y)

    class Broken(ByMean):
        def predict_proba(self, X):
            return np.full((len(X), 2), np.nan)

    with pytest.raises(ValueError, match=r"outputs at \(0, 0\) is nan, must be finite"):
        RejectingClassifier(Broken()).fit(X, y)


def test_rows_that_trained_a_fitted_estimator_guarantee_nothing():
    random = np.random.RandomState(0)
    X, y = random.normal(size=(100, 2)), np.arange(100) % 2
    fitted = BayesPointClassifier(soft_boundary=1.0).fit(X, y)
    with pytest.raises(ValueError, match="rows of X trained as well: a guarantee needs rows"):
        RejectingClassifier(fitted, prefit=True, risk=0.3).fit(X, y)


def test_rejected_labels_keep_the_kind_of_numbers():
    random = np.random.RandomState(0)
    X = random.normal(size=(400, 2))
    y = (X[:, 0] + random.normal(0, 0.3, 400) > 0).astype(float)
    machine = RejectingClassifier(LogisticRegression(), risk=0.05, rejected_label=-1).fit(X, y)
    said = machine.predict(X)
    assert said.dtype.kind == "f" and set(said) <= {-1.0, 0.0, 1.0}
