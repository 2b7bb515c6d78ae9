# SPDX-License-Identifier: MIT
"""Kinds of numbers: read in place, kept as they are, converted exactly or refused."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from bpm import BayesPointClassifier, _native

KINDS = ["float32", "float64", "uint8", "sparse"]


def of_kind(X, kind):
    return sparse.csr_matrix(X, dtype=np.float64) if kind == "sparse" else X.astype(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_read_where_they_lie(blobs, kind):
    X = of_kind(blobs[0], kind)
    machine = BayesPointClassifier("polynomial", degree=2).fit(X, blobs[1])
    assert machine._model.kind == kind
    numbers = X.data if kind == "sparse" else X[0]
    before, numbers[0] = numbers[0], numbers[0] - 1
    with pytest.raises(ValueError, match="inputs or labels differ from the training set"):
        machine.add_draws(1)  # It has seen the change: there is no copy.
    numbers[0] = before
    assert machine.add_draws(1).n_draws_ == 31


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_learns_and_survives_a_pickle(blobs, kind):
    X, y = of_kind(blobs[0], kind), blobs[1]
    machine = BayesPointClassifier().fit(X, y)
    assert machine.score(X, y) == 1
    copy = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(copy.predict_proba(X), machine.predict_proba(X))


@pytest.mark.parametrize("trained", KINDS)
@pytest.mark.parametrize("asked", KINDS)
def test_another_kind_is_converted(blobs, trained, asked):
    X, y = blobs
    machine = BayesPointClassifier("linear").fit(of_kind(X, trained), y)
    expected = machine.decision_function(of_kind(X, trained))
    assert np.array_equal(machine.decision_function(of_kind(X, asked)), expected)


@pytest.mark.parametrize(
    "trained, number", [("float32", 1e300), ("uint8", 0.5), ("uint8", 256), ("uint8", -1)]
)
def test_what_the_kind_has_not_is_refused(blobs, trained, number):
    X, y = blobs
    machine = BayesPointClassifier("linear").fit(X.astype(trained), y)
    other = X.astype(float)
    other[3, 2] = number
    with pytest.raises(ValueError, match=f"holds numbers that are none of {trained}"):
        machine.predict(other)


def test_a_model_of_floats_rounds_doubles(blobs):
    X, y = blobs
    machine = BayesPointClassifier().fit(X.astype("float32"), y)
    asked = X + np.random.RandomState(0).uniform(size=X.shape)
    expected = machine.decision_function(asked.astype("float32"))
    assert np.array_equal(machine.decision_function(asked), expected)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_two_kinds_of_rows_are_enough_for_a_width(kernel):
    random = np.random.RandomState(0)
    X = (random.uniform(size=(200, 1)) < 0.2).astype(float)
    y = (X[:, 0] > 0) ^ (random.uniform(size=200) < 0.05)
    machine = BayesPointClassifier(kernel, soft_boundary=0.1).fit(X, y)
    assert machine.width_ == (1 if kernel == "laplacian" else 0.7)
    assert machine.score(X, y) > 0.9


def test_other_integers_and_layouts_become_doubles(blobs):
    X, y = blobs
    doubles = BayesPointClassifier().fit(X.astype(float), y).decision_function(X)
    for other in (X.astype(np.int32), X.astype(np.int64), X.tolist(), X.astype(">f8")):
        machine = BayesPointClassifier().fit(other, y)
        assert machine._model.kind == "float64"
        assert np.array_equal(machine.decision_function(other), doubles)
    for laid_out in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        machine = BayesPointClassifier().fit(laid_out, y)
        assert machine._model.kind == "uint8"
    unsorted = sparse.csr_matrix(X.astype(float))
    unsorted.indices[:2], unsorted.data[:2] = unsorted.indices[1::-1], unsorted.data[1::-1]
    unsorted.has_canonical_format = False
    first = BayesPointClassifier().fit(sparse.csr_matrix(X, dtype=float), y)
    assert np.array_equal(first.predict(unsorted), first.predict(X))
    strided = sparse.csr_matrix(X, dtype=float)
    strided.data = np.repeat(strided.data, 2)[::2]
    assert np.array_equal(first.fit(strided, y).predict(strided), first.predict(X))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "words", [{"sampler": "billiard"}, {"sampler": "gibbs"}, {"kernel": "laplacian"}]
)
def test_what_works_on_doubles_takes_every_kind(blobs, kind, words):
    X, y = of_kind(blobs[0][::3], kind), blobs[1][::3]
    machine = BayesPointClassifier(draws=10, soft_boundary="hard", **words).fit(X, y)
    assert machine._model.kind.endswith("float64")
    assert machine.score(X, y) == 1


REQUEST = {"kernel": "linear", "sampler": "perceptron", "width": 1.0}


@pytest.mark.parametrize(
    "words, X, message",
    [
        ({}, np.ones((4, 2), dtype=np.int64), "no row-major matrix of float32, float64 or uint8"),
        ({}, np.ones((4, 2), order="F"), "no row-major matrix"),
        ({}, np.ones(4), "no row-major matrix"),
        ({}, sparse.csr_matrix(np.ones((4, 2), dtype=np.float32)), "other than float64 with int32"),
        ({"sampler": "billiard"}, np.ones((4, 2), dtype=np.float32), "must be 'perceptron'"),
        ({"kernel": "laplacian"}, np.ones((4, 2), dtype=np.uint8), "must be one of inner products for"),
    ],
)
def test_the_native_module_converts_nothing(words, X, message):
    with pytest.raises(ValueError, match=message):
        _native.fit(REQUEST | words, X, np.array([0, 1, 0, 1], dtype=np.int32), None)


def test_indices_out_of_bounds_are_refused():
    X = sparse.csr_matrix(np.eye(4))
    X.indices[2] = 4
    with pytest.raises(ValueError, match="sparse matrix whose indices do not fit it"):
        _native.median_distance(X)


def test_a_native_model_takes_its_own_kind_alone(blobs):
    X, y = blobs
    model = BayesPointClassifier().fit(X, y)._model
    with pytest.raises(ValueError, match="of another kind than the training set's, uint8"):
        model.decision_values(X.astype(float))
    with pytest.raises(ValueError, match="kind is 'word', which no model has"):
        _native.load("word", model.to_bytes(), 1)
    with pytest.raises(ValueError, match="the model"):
        _native.load("uint8", model.to_bytes()[:-1], 1)


@pytest.mark.parametrize("kernel", ["gaussian", "precomputed"])
def test_a_warm_start_when_the_first_rows_were_changed_in_place(blobs, kernel):
    X, y = blobs
    X = X.astype(float)
    first = X @ X.T + 1 if kernel == "precomputed" else X.copy()
    again = first.copy()
    machine = BayesPointClassifier(kernel, warm_start=True, draws=3, random_state=1).fit(first, y)
    first[:] = 0
    machine.set_params(draws=5).fit(again, y)
    whole = BayesPointClassifier(kernel, draws=5, random_state=1).fit(again, y)
    assert machine.n_draws_ == 5
    assert np.array_equal(machine.decision_function(again), whole.decision_function(again))
