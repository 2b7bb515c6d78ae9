# SPDX-License-Identifier: MIT
"""Risks that are guaranteed: the threshold that our estimators share, and one around any other."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils._tags import _safe_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d

from . import _native
from ._checks import FitWarning, _fraction, _real, _seed


def _row_hashes(X: Any) -> NDArray[np.uint64]:
    """A hash a row, of what is not 0 in it and where: the same however the rows are kept."""
    if not sparse.issparse(X):
        X = np.asarray(X)
        if X.ndim != 2 or X.dtype.kind not in "biuf":  # Rows of words, texts.
            rows = (repr(row).encode() for row in X.astype(object).tolist())
            digests = b"".join(blake2b(row, digest_size=8).digest() for row in rows)
            return np.frombuffer(digests, dtype=np.uint64)
    factors = np.random.RandomState(1).randint(0, 2**64, X.shape[1], dtype=np.uint64) | np.uint64(1)

    def mixed(numbers: NDArray, factors: NDArray) -> NDArray[np.uint64]:
        words = (np.asarray(numbers, dtype=np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0.
        words = (words ^ (words >> np.uint64(29))) * factors
        return words ^ (words >> np.uint64(32))

    if sparse.issparse(X):
        X = X.tocsr()
        sums = np.zeros(X.nnz + 1, dtype=np.uint64)
        np.cumsum(mixed(X.data, factors[X.indices]), out=sums[1:])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    hashes = np.empty(len(X), dtype=np.uint64)
    step = max(1, 2**20 // max(1, X.shape[1]))
    for begin in range(0, len(X), step):
        part = mixed(X[begin : begin + step], factors)
        hashes[begin : begin + step] = part.sum(axis=1, dtype=np.uint64)
    return hashes


class _Rejection:
    """A threshold on the gap of the best two outputs, above which few are wrong."""

    # Of the rows that trained, sorted; none where they are not known.
    _trained_rows: NDArray[np.uint64] = np.empty(0, np.uint64)

    def _outputs(self, X: Any) -> NDArray:
        """One column of two classes, a column a class of more."""
        raise NotImplementedError

    def _labels(self, X: Any) -> NDArray:
        """Classes, of rejected rows too."""
        return self.predict(X)

    def _compared(self, X: Any) -> Any:
        """`X` as the rows that trained were when they were hashed."""
        return X

    def _scores(self, X: Any) -> list[float]:
        return _native.gap_scores(self._outputs(X))

    def _known_labels(self, X: Any, y: Any) -> NDArray:
        y = column_or_1d(y)
        if len(y) != _num_samples(X):
            raise ValueError(
                f"certify_risk: y has {len(y)} entries, expected {_num_samples(X)} (one per row of "
                "X)"
            )
        known = set(self.classes_.tolist())
        for label in y.tolist():
            if label not in known:
                raise ValueError(f"certify_risk: y has the label {label!r}, which no row had in fit")
        return y

    def _certify(self, X: Any, y: NDArray, risk: Any, delta: Any) -> dict[str, Any]:
        """Called by what users call, whose line a warning names."""
        risk, delta = _fraction("risk", risk), _fraction("delta", delta)
        correct = np.asarray(self._labels(X) == y)
        found = _native.certify_risk(self._scores(X), correct.tolist(), risk, delta)
        self._check_new(X)
        self.certified_risk_ = {"risk": risk, "delta": delta, **found}
        return self.certified_risk_

    def _check_new(self, X: Any) -> None:
        """Counts the rows of `X` that trained. Where most of them did, and more than rows of the
        training set occur there twice, they are no new ones: as the command line says."""
        known = self._trained_rows
        rows = _row_hashes(self._compared(X))
        both = int(np.isin(rows, known).sum())
        if both == 0:
            return
        found = f"certify_risk: {both} of the {len(rows)} rows of X trained as well"
        twice = known[1:] == known[:-1]
        share = np.mean(np.append(twice, False) | np.append(False, twice))
        expected = len(rows) * share + 5 * np.sqrt(len(rows) * share * (1 - share))
        if 2 * both > len(rows) and both > expected:
            raise ValueError(f"{found}: a guarantee needs rows that train nothing")
        warnings.warn(
            f"{found}: the guarantee holds if that is chance, not if they are copies",
            UserWarning,
            stacklevel=4,
        )

    def _rejected(self, X: Any) -> NDArray[np.bool_]:
        return ~(np.asarray(self._scores(X)) >= self.certified_risk_["threshold"])


def _passed_on(name: str) -> Callable[[Any], bool]:
    """Whether the estimator has the method."""

    def has(self: RejectingClassifier) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return has


class RejectingClassifier(_Rejection, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Any classifier, with a threshold above which its predictions are guaranteed to be right.

    ``fit`` draws a share of the rows, holds them out, fits the classifier to the others, and finds
    the threshold on those held out. With probability 1 - `delta` over them, a share of at most
    `risk` of what ``reject`` accepts of the same source is classified wrongly, whatever the
    classifier. Scores are the gaps of its best two outputs or, without ``decision_function``, of
    its best two probabilities. What looks at rows, such as a scaler or a search for parameters,
    goes within, by a ``Pipeline`` or ``GridSearchCV`` as `estimator`: rows held out take no part.

    Parameters
    ----------
    estimator : classifier
        With ``decision_function`` or ``predict_proba``.
    risk : float
        The share of accepted rows that may be wrong, between 0 and 1.
    delta : float
        The chance that the guarantee fails, between 0 and 1.
    held_out : float
        The share of the rows that ``fit`` holds out, at least 0 and below 1. 0: none;
        ``certify_risk`` is called with others, as where rows come in groups.
    prefit : bool
        True: `estimator` is fitted already, and ``fit`` finds the threshold on all rows that it is
        given, none of which trained it.
    rejected_label : optional
        What ``predict`` says of rejected rows, no class. None: what the estimator says.
    random_state : int, RandomState or None
        Draws the rows to hold out.

    Attributes
    ----------
    estimator_ : classifier
    classes_ : ndarray of shape (n_classes,)
        Of the rows that trained.
    certified_risk_ : dict
        As ``certify_risk`` returns it.
    n_features_in_, feature_names_in_
        Where the estimator has them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bpm import RejectingClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> machine = RejectingClassifier(LogisticRegression(max_iter=5000), risk=0.02).fit(X, y)
    >>> accepted = ~machine.reject(X)
    >>> 0.5 < machine.certified_risk_["coverage"] < 1
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        risk: float = 0.05,
        delta: float = 0.01,
        held_out: float = 0.5,
        prefit: bool = False,
        rejected_label: Any = None,
        random_state: Any = 1,
    ) -> None:
        self.estimator = estimator
        self.risk = risk
        self.delta = delta
        self.held_out = held_out
        self.prefit = prefit
        self.rejected_label = rejected_label
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, **fit_params: Any) -> RejectingClassifier:
        """Fit to some of the rows, and find the threshold on the others.

        Parameters
        ----------
        X : whatever the estimator takes, n rows
        y : array-like of shape (n,)
        **fit_params
            Handed to the estimator's ``fit``; of what has n entries, those of the rows that train.

        Returns
        -------
        RejectingClassifier
            Itself.
        """
        for name in ("certified_risk_", "_trained_rows"):
            vars(self).pop(name, None)
        _fraction("risk", self.risk)
        _fraction("delta", self.delta)
        held_out = _real("held_out", self.held_out)
        if not 0 <= held_out < 1:
            raise ValueError(f"held_out is {self.held_out!r}, must be at least 0 and below 1")
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        X, y = indexable(X, y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if self.prefit:
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
            if isinstance(self.estimator, _Rejection):
                self._trained_rows = self.estimator._trained_rows
            held = np.arange(len(y))
        else:
            aside = round(held_out * len(y))
            if held_out and aside in (0, len(y)):
                raise ValueError(
                    f"X has n_samples = {len(y)}, of which held_out, {held_out}, leaves none to "
                    "train, or takes none"
                )
            if aside and _safe_tags(self.estimator, "pairwise"):
                raise ValueError(
                    "held_out is above 0, must be 0 for an estimator on a matrix of kernel values: "
                    "call certify_risk with values of other rows"
                )
            # Drawn without regard to the classes, since a guarantee needs independent rows.
            order = np.random.default_rng(_seed(self.random_state)).permutation(len(y))
            train, held = np.split(order, [len(y) - aside])
            train.sort()
            held.sort()
            if len(np.unique(y[train])) == 1 < len(np.unique(y)):
                raise ValueError(
                    f"y has 1 class in the {len(train)} rows that held_out leaves to train: give "
                    "more rows, a smaller held_out or another random_state"
                )
            mine = {
                name: _safe_indexing(value, train)
                if hasattr(value, "__len__") and len(value) == len(y)
                else value
                for name, value in fit_params.items()
            }
            rows = _safe_indexing(X, train)
            self.estimator_ = clone(self.estimator).fit(rows, y[train], **mine)
            self._trained_rows = np.sort(_row_hashes(rows))
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        if self.rejected_label is not None and self.rejected_label in self.classes_.tolist():
            raise ValueError(f"rejected_label is {self.rejected_label!r}, must be no class of y")
        if len(held):
            found = self._certify(_safe_indexing(X, held), y[held], self.risk, self.delta)
            if not found["found"]:
                warnings.warn(
                    f"every row is rejected: no threshold of the {len(held)} rows held out "
                    f"guarantees the risk {self.risk}: {found['message']}",
                    FitWarning,
                    stacklevel=2,
                )
        return self

    def certify_risk(
        self, X: Any, y: ArrayLike, risk: float | None = None, delta: float | None = None
    ) -> dict[str, Any]:
        """Find the threshold again, on other rows or for another risk.

        Parameters
        ----------
        X, y
            Rows that took no part in training, nor in any choice of parameters, and their labels.
        risk, delta : float, optional
            Those of the estimator if left out.

        Returns
        -------
        dict
            As of ``BayesPointClassifier.certify_risk``; also kept as ``certified_risk_``.
        """
        check_is_fitted(self, "estimator_")
        return self._certify(
            X,
            self._known_labels(X, y),
            self.risk if risk is None else risk,
            self.delta if delta is None else delta,
        )

    def _compared(self, X: Any) -> Any:
        ours = self.prefit and isinstance(self.estimator_, _Rejection)
        return self.estimator_._compared(X) if ours else X

    def reject(self, X: Any) -> NDArray[np.bool_]:
        """Which rows of `X` to leave undecided: those below the threshold."""
        check_is_fitted(self, "estimator_")
        if not hasattr(self, "certified_risk_"):
            raise ValueError(
                "reject: there is no threshold: call certify_risk first, on rows that took no part "
                "in training"
            )
        return self._rejected(X)

    def predict(self, X: Any) -> NDArray:
        """Classes of `X`, of rejected rows `rejected_label` if there is one."""
        check_is_fitted(self, "estimator_")
        labels = self.estimator_.predict(X)
        if self.rejected_label is None:
            return labels
        kinds = {np.asarray(self.rejected_label).dtype.kind, labels.dtype.kind}
        if len(kinds) > 1 and not kinds <= set("biuf"):
            labels = labels.astype(object)
        return np.where(self.reject(X), self.rejected_label, labels)

    def score(self, X: Any, y: ArrayLike) -> float:
        """The estimator's score of all rows, rejected ones too."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.score(X, y)

    @available_if(_passed_on("decision_function"))
    def decision_function(self, X: Any) -> NDArray:
        """The estimator's."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    @available_if(_passed_on("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray:
        """The estimator's."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(_passed_on("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> NDArray:
        """The estimator's."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_log_proba(X)

    def _labels(self, X: Any) -> NDArray:
        return self.estimator_.predict(X)

    def _outputs(self, X: Any) -> NDArray:
        for name in ("decision_function", "predict_proba"):
            if hasattr(self.estimator_, name):
                values = np.asarray(getattr(self.estimator_, name)(X), dtype=np.float64)
                return np.ascontiguousarray(values.reshape(len(values), -1))
        raise ValueError(
            f"estimator is a {type(self.estimator).__name__}, must have decision_function or "
            "predict_proba"
        )

    def _more_tags(self) -> dict[str, Any]:
        return {"pairwise": _safe_tags(self.estimator, "pairwise")}
