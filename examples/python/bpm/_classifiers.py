# SPDX-License-Identifier: MIT
"""The estimators: what scikit-learn expects of them, around the machines of `_native`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
from joblib import hash as hash_of
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import normalize
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _native
from ._checks import FitWarning, _one_of, _real, _seed, _threads, _whole
from ._rejection import _Rejection, _row_hashes

_KERNELS = ("linear", "polynomial", "gaussian", "laplacian", "arc_cosine", "precomputed")
_NAMES_OF_SCIKIT_LEARN = {"poly": "polynomial", "rbf": "gaussian"}
_SAMPLERS = ("perceptron", "billiard", "gibbs")
# What a fit leaves beside what ends in an underscore.
_FITTED = ("_model", "_input_kind", "_fitted_to", "_trained_rows", "_weights")


def _digest(X: Any, y: NDArray) -> str:
    """Of a training set, so that one that was changed in place is another one."""
    numbers = (X.data, X.indices, X.indptr) if sparse.issparse(X) else X
    return hash_of((X.shape, numbers, y))


def _variance(X: Any, unit_inputs: bool) -> float:
    """Of all numbers of the rows that the kernel sees, as scikit-learn has it: 1 where it is 0."""
    X = normalize(X.astype(np.float64)) if unit_inputs else X
    if sparse.issparse(X):
        variance = X.multiply(X).mean() - X.mean() ** 2
    else:
        variance = X.var(dtype=np.float64)
    return float(variance) or 1.0


def _median_distance(X: Any, unit_inputs: bool) -> float:
    """As the library finds it, of rows of norm 1 where the kernel sees such."""
    if unit_inputs:
        some = np.sort(np.random.RandomState(1).permutation(X.shape[0])[:2000])
        X = normalize(X[some].astype(np.float64))
    return _positive_distance(_native.median_distance(X))


def _median_manhattan_distance(X: NDArray) -> float:
    pairs = np.random.RandomState(1).randint(len(X), size=(2000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    distances = np.abs(X[pairs[:, 0]] - X[pairs[:, 1]]).sum(axis=1)
    some = distances if np.median(distances) > 0 else distances[distances > 0]
    return _positive_distance(float(np.median(some)) if len(some) else 0.0)


def _positive_distance(distance: float) -> float:
    if not distance > 0:
        raise ValueError("X has no two rows at a distance above 0, by which to choose a width")
    return distance


class _Progress:
    """Prints lines of progress to standard error, a new one with each stage, draw or tenth."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.told: Any = None

    def __call__(self, stage: str, fraction: float, draws: int, draws_total: int) -> None:
        of_draws = f", draw {draws} of {draws_total}" if draws_total else ""
        now = (stage, draws, int(10 * fraction))
        if now != self.told:
            self.told = now
            print(f"[{self.name}] {stage}: {fraction:.0%}{of_draws}", file=sys.stderr, flush=True)


class _Machine(_Rejection, ClassifierMixin, BaseEstimator):
    """What both estimators share."""

    _model: Any

    # --- Checks ---------------------------------------------------------------------------------

    @property
    def _kernel(self) -> str:
        """The kernel by our name."""
        return _NAMES_OF_SCIKIT_LEARN.get(self.kernel, self.kernel)

    def _numbers(self, X: Any, *, reset: bool) -> Any:
        """`X` as C++ reads it, the same memory where it is laid out so: rows of float32, float64
        or uint8, or CSR of float64. All other numbers become float64."""
        X = self._validate_data(
            X,
            reset=reset,
            accept_sparse="csr",
            accept_large_sparse=False,
            dtype=[np.float64, np.float32, np.uint8],
        )
        if sparse.issparse(X):
            if X.dtype != np.float64:
                X = X.astype(np.float64)
            arrays = (X.data, X.indices, X.indptr)
            if not (X.has_canonical_format and all(a.flags.c_contiguous for a in arrays)):
                X = X.copy()
                X.sum_duplicates()
            return X
        return np.require(X, dtype=X.dtype.newbyteorder("="), requirements=("C", "A"))

    def _training_numbers(self, X: Any, method: str) -> Any:
        X = self._numbers(X, reset=True)
        # Chains and expectation propagation work on matrices of doubles, in which all others are
        # exact; so do kernels that are no functions of inner products.
        if method != "perceptron" or self.kernel in ("laplacian", "precomputed"):
            X = X.toarray() if sparse.issparse(X) else X
            X = np.ascontiguousarray(X, dtype=np.float64)
        elif not sparse.issparse(X) and X.dtype == np.float64 and _native.floats_suffice(X):
            X = X.astype(np.float32)
        self._check_directions(X)
        return X

    def _check_directions(self, X: Any) -> None:
        if self.unit_inputs:
            empty = np.asarray(abs(X).sum(axis=1) == 0).ravel()
            if empty.any():
                raise ValueError(
                    f"X has the row {int(empty.argmax())} of zeros alone, which unit_inputs cannot "
                    "scale to norm 1"
                )

    def _query_numbers(self, X: Any) -> Any:
        """`X` in the kind of the training set, as float32 rounded, or a ValueError."""
        check_is_fitted(self, "_model")
        X = self._numbers(X, reset=False)
        self._check_directions(X)
        kind = self._input_kind
        if kind == "sparse":
            return X if sparse.issparse(X) else sparse.csr_matrix(X, dtype=np.float64)
        if sparse.issparse(X):
            X = X.toarray()
        if X.dtype == kind:
            return np.ascontiguousarray(X)
        with np.errstate(over="ignore", invalid="ignore"):
            converted = np.ascontiguousarray(X, dtype=kind)
        finite = kind != "uint8" and np.isfinite(converted).all()
        if not (finite or np.array_equal(converted, X)):
            raise ValueError(
                f"X is of {X.dtype} and holds numbers that are none of {kind}, which the training "
                f"set was of; convert it with X.astype('{kind}'), or fit to {X.dtype}"
            )
        return converted

    def _class_weights(self, y: NDArray) -> list[tuple[int, float]]:
        if self.class_weight is None:
            return []
        if isinstance(self.class_weight, dict):
            known = list(self.classes_)
            every = all(label in self.class_weight for label in known)
            for label, weight in self.class_weight.items():
                # Where every class of y has a weight, others are of classes that a fold lacks.
                if label not in known and not every:
                    raise ValueError(f"class_weight has the class {label!r}, which y has not")
                if not 0 < _real("class_weight", weight) < np.inf:
                    raise ValueError(
                        f"class_weight of {label!r} is {weight:g}, must be positive and finite"
                    )
            return [(known.index(c), float(w)) for c, w in self.class_weight.items() if c in known]
        if self.class_weight != "balanced":
            raise ValueError(
                f"class_weight is {self.class_weight!r}, must be a dict or 'balanced'"
            )
        weights = compute_class_weight("balanced", classes=self.classes_, y=y)
        return list(enumerate(weights.tolist()))

    def _request(self, X: Any, y: NDArray) -> dict[str, Any]:
        """The parameters as C++ takes them; what is left out is chosen there."""
        request: dict[str, Any] = {
            "kernel": self._kernel,
            "degree": _whole("degree", self.degree, 1, 64),
            "coef0": _real("coef0", self.coef0),
            "depth": _whole("depth", self.depth, 1, 1000),
            "unit_inputs": bool(self.unit_inputs),
            "threads": _threads(self.n_jobs),
            "memory": _whole("memory", self.memory, 0),
        }
        request |= self._width_or_gamma(X)
        if self.unit_inputs and self.kernel in ("laplacian", "precomputed"):
            raise ValueError(f"unit_inputs is true, must be false with the kernel {self.kernel!r}")
        if self.soft_boundary == "hard":
            request["soft_boundary"] = 0.0
        elif self.soft_boundary != "automatic":
            if isinstance(self.soft_boundary, str):
                raise ValueError(
                    f"soft_boundary is {self.soft_boundary!r}, must be 'automatic', 'hard' or a "
                    "number"
                )
            request["soft_boundary"] = _real("soft_boundary", self.soft_boundary)
        if self.bias is not None:
            request["bias"] = _real("bias", self.bias)
        weights = self._class_weights(y)
        if self._weighs_decisions():
            self._weights = np.log([dict(weights).get(c, 1.0) for c in range(len(self.classes_))])
        else:
            request["class_weights"] = weights
        if self._judges(y):
            request |= self._candidates(X, request)
        return request

    def _weighs_decisions(self) -> bool:
        """Whether class weights multiply probabilities where labels are taken from them."""
        return False

    def _judges(self, y: NDArray) -> bool:
        """Whether what is left out is judged by folds, for which rows must suffice."""
        counts = np.unique(y, return_counts=True)[1]
        judged = self.soft_boundary == "automatic" and hasattr(self, "sampler")
        few = counts[counts > 1].sum() < 5
        return judged and not few and self._kernel not in ("laplacian", "precomputed")

    def _candidates(self, X: Any, request: dict[str, Any]) -> dict[str, Any]:
        """What a fit chooses from."""
        candidates: dict[str, Any] = {}
        if self.bias is None:
            candidates["biases"] = _native.usual_biases
        if self._kernel == "gaussian" and self.gamma is None and self.width is None:
            candidates["median"] = request["width"] / _native.usual_width
        return candidates

    def _width_or_gamma(self, X: Any) -> dict[str, float]:
        """The width of a Gaussian or Laplacian, `gamma` of a polynomial."""
        if self.gamma is not None and self.width is not None:
            raise ValueError("gamma and width are both given, must be one of them")
        if self.width is not None and self._kernel not in ("gaussian", "laplacian"):
            raise ValueError(f"width is given, which the kernel {self.kernel!r} has not")
        if self.gamma is not None and self._kernel not in ("gaussian", "laplacian", "polynomial"):
            raise ValueError(f"gamma is given, which the kernel {self.kernel!r} has not")
        if self.gamma is not None:
            if isinstance(self.gamma, str):
                _one_of("gamma", self.gamma, ("scale", "auto"))
                variance = _variance(X, self.unit_inputs) if self.gamma == "scale" else 1.0
                gamma = 1 / (variance * X.shape[1])
            else:
                gamma = _real("gamma", self.gamma)
            if not (gamma > 0 and np.isfinite(gamma)):
                raise ValueError(f"gamma is {gamma!r}, must be positive and finite")
            if self._kernel == "laplacian":
                return {"width": 1 / gamma}
            return {"gamma": gamma}
        if self.width is not None:
            return {"width": _real("width", self.width)}
        if self._kernel == "gaussian":
            return {"width": _native.usual_width * _median_distance(X, self.unit_inputs)}
        if self._kernel == "laplacian":
            return {"width": _median_manhattan_distance(X)}
        return {}

    # --- Fits -----------------------------------------------------------------------------------

    def _remember(self, X: Any, y: NDArray) -> None:
        """Keeps what a warm start is held against."""

    def _watch(self) -> Any:
        return _Progress(type(self).__name__) if self.verbose else None

    def _labelled(self, X: Any, y: Any, method: str, unsupported: dict[str, Any]) -> Any:
        """Training numbers, labels, and their numbers among `classes_`."""
        for name, value in unsupported.items():
            if name != "sample_weight":
                raise TypeError(f"fit() got an unexpected keyword argument {name!r}")
            if value is not None:
                raise ValueError(
                    "sample_weight is given, which Bayes point machines have not: use "
                    "class_weight, or repeat rows"
                )
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        _one_of("kernel", self.kernel, (*_KERNELS, *_NAMES_OF_SCIKIT_LEARN))
        X = self._training_numbers(X, method)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if len(y) != X.shape[0]:
            raise ValueError(f"y has {len(y)} labels, expected {X.shape[0]}, one per row of X")
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds 1 class, {self.classes_[0]!r}, expected two or more")
        return X, y, codes.astype(np.int32)

    def _forget(self, *, keep: tuple[str, ...] = ()) -> None:
        """Makes an estimator that is not fitted of this one."""
        for name in list(vars(self)):
            fitted = name.endswith("_") or name in _FITTED
            if fitted and name not in keep:
                delattr(self, name)

    @contextmanager
    def _fitting(self) -> Iterator[None]:
        """A fit that fails leaves nothing, but for what Ctrl-C may leave: see `_take`."""
        try:
            yield
        except BaseException as error:
            if error is not vars(self).pop("_raised", None):
                self._forget()
            raise

    def _refit(self, X: Any, y: NDArray, codes: NDArray, words: dict[str, Any]) -> None:
        self._forget(keep=("n_features_in_", "feature_names_in_", "classes_"))
        request = self._request(X, y)
        self.width_ = request.get("width")
        self.bias_ = request.get("bias", 0.0 if self._kernel == "precomputed" else 1.0)
        self._trained_rows = np.sort(_row_hashes(X))
        self._remember(X, y)
        found = _native.fit(request | words, X, codes, self._watch())
        self._take(*found)

    def _take(self, model: Any, raised: BaseException | None, more: bool = False) -> None:
        """Takes a model over, of `more` draws than the last; or raises what was raised while it was
        made, and takes it over if that is wanted."""
        if raised is not None and not self.keep_interrupted:
            raise raised
        self._model = model
        self._input_kind = model.kind.rsplit(", ", 1)[-1]
        facts = model.facts
        self.support_ = facts["support"]
        if not more:  # Else it stays as it was chosen or given.
            given = {"automatic": facts["soft_boundary"], "hard": 0.0}
            self.soft_boundary_ = float(given.get(self.soft_boundary, self.soft_boundary))
            if "chosen" in facts:
                self._take_choice(facts["chosen"])
        self.training_seconds_ = facts["training_seconds"]
        self._take_facts(facts)
        vars(self).pop("certified_risk_", None)  # It was of another model.
        said = vars(self).get("warnings_", []) if more else []
        texts = facts["warnings"] + self._said_beside()
        if getattr(self, "_weights", None) is not None:
            texts = [one for one in texts if not one.endswith("a larger class_weight")]
            if not facts["probabilities"]:
                texts.append("class_weight: rows are too few for probabilities, so it does nothing")
                self._weights = None
        self.warnings_ = list(dict.fromkeys(texts))
        if raised is not None:
            self._raised = raised
            raise raised
        new = [one for one in self.warnings_ if one not in said]
        if new:
            warnings.warn("; ".join(new), FitWarning, stacklevel=4)

    def _take_choice(self, chosen: dict[str, Any]) -> None:
        """Notes what was chosen beside the soft boundary."""
        if "width" in chosen["parameters"][chosen["best"]]:
            self.width_ = chosen["parameters"][chosen["best"]]["width"]
        if self.bias is None:
            self.bias_ = chosen["bias"][chosen["best"]]

    def _said_beside(self) -> list[str]:
        """What there is to say of a fit that the library does not know."""
        return []

    def __getstate__(self) -> dict[str, Any]:
        """The model as the bytes of a model file, without the training that could go on."""
        state = dict(super().__getstate__())
        state.pop("_fitted_to", None)
        if "_model" in state:
            state["_model"] = (self._model.kind, self._model.to_bytes())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_model" in state:
            self._model = _native.load(*state["_model"], _threads(self.n_jobs))

    def _more_tags(self) -> dict[str, Any]:
        return {"pairwise": self.kernel == "precomputed"}

    # --- Predictions ----------------------------------------------------------------------------

    def _values(self, X: Any) -> NDArray:
        return self._model.decision_values(self._query_numbers(X))

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Outputs of the classes, from which labels are taken.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            With ``kernel="precomputed"`` the kernel values of n inputs with the training points.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            Of two classes one number, positive for ``classes_[1]``; of more a number per class,
            the largest of which wins.
        """
        check_is_fitted(self, "_model")
        values = self._values(X)
        return values.ravel() if values.shape[1] == 1 else values

    def predict(self, X: ArrayLike) -> NDArray:
        """Classes of `X`.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n,)
            Entries of ``classes_``.
        """
        values = self.decision_function(X)
        codes = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]

    def _has_probabilities(self) -> bool:
        return True

    @available_if(lambda self: self._has_probabilities())
    def predict_log_proba(self, X: ArrayLike, **words: Any) -> NDArray:
        """Logarithms of the probabilities of ``predict_proba``, which takes the same arguments."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, **words))

    # --- Rejection ------------------------------------------------------------------------------

    def _needs_diagonal(self) -> bool:
        """Whether probabilities need more than the rows."""
        return False

    def _outputs(self, X: Any) -> NDArray:
        check_is_fitted(self, "_model")
        return self._values(X)

    def _compared(self, X: Any) -> Any:
        return self._query_numbers(X)

    def reject(
        self,
        X: ArrayLike,
        *,
        rate: float | None = None,
        error: float | None = None,
        risk: float | None = None,
    ) -> NDArray[np.bool_]:
        """Which rows of `X` to leave undecided: where the best two outputs are nearest each other,
        for `error` those whose class is the least probable.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
        rate : float, optional
            The share of these rows to reject, at least 0 and below 1.
        error : float, optional
            Reject as few as bring the mean of what ``predict_proba`` expects of the others to be
            wrong to `error`.
        risk : float, optional
            Reject what lies below the threshold that ``certify_risk`` found for this risk.

        Returns
        -------
        ndarray of bool, shape (n,)
            True where a row is rejected.
        """
        if sum(given is not None for given in (rate, error, risk)) != 1:
            raise ValueError("reject: rate, error and risk: exactly one must be given")
        if rate is not None:
            return _native.rejected_by_rate(self._scores(X), _real("rate", rate))
        if risk is not None:
            found = getattr(self, "certified_risk_", None)
            if found is None or found["risk"] != risk:
                raise ValueError(
                    f"reject: risk is {risk!r}, for which there is no threshold: call certify_risk "
                    "with it first, on rows that took no part in training"
                )
            return self._rejected(X)
        scores = np.asarray(self._scores(X))
        error = _real("error", error)
        if self._needs_diagonal():
            raise ValueError(
                "reject: error is given, for which a precomputed kernel lacks k(x, x) of the rows: "
                "use rate or risk"
            )
        if not 0 <= error <= 1:
            raise ValueError(f"reject: error is {error!r}, must lie in [0, 1]")
        # Of the class that is said: with class weights it need not be the most probable one.
        said = np.searchsorted(self.classes_, self.predict(X))
        probability = self.predict_proba(X)[np.arange(len(said)), said]
        order = np.lexsort((-scores, -probability))
        within = np.cumsum(1 - probability[order]) <= error * np.arange(1, len(order) + 1)
        accepted = int(np.max(np.nonzero(within)[0], initial=-1)) + 1
        rejected = np.ones(len(order), dtype=bool)
        rejected[order[:accepted]] = False
        return rejected

    def certify_risk(
        self, X: ArrayLike, y: ArrayLike, risk: float = 0.01, delta: float = 0.01
    ) -> dict[str, Any]:
        """Find a threshold above which predictions are guaranteed to be wrong rarely.

        With probability 1 - `delta` over the rows given here, of the inputs from the same source
        that ``reject(..., risk=risk)`` accepts a share of at most `risk` is classified wrongly,
        whatever the model. Where no threshold can promise that, everything is rejected.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows that took no part in training, nor in any choice of parameters: those that trained
            are counted, with a warning, or refused where they are most and more than chance.
        y : array-like of shape (n,)
            Their labels.
        risk, delta : float
            Between 0 and 1.

        Returns
        -------
        dict
            Also kept as ``certified_risk_``: `risk`, `delta`, `found`, `threshold`, `coverage` (the
            share of these rows that is accepted), `accepted`, `errors` and a
            `message`.
        """
        check_is_fitted(self, "_model")
        return self._certify(X, self._known_labels(X, y), risk, delta)


class BayesPointClassifier(_Machine):
    """Bayes point machine: the centre of mass of all kernel classifiers without training error.

    The centre comes from draws of a sampler. Every parameter has a default that suits data of any
    kind; features of different units want a ``StandardScaler`` before.

    Parameters
    ----------
    kernel : {"gaussian", "linear", "polynomial", "laplacian", "arc_cosine", "precomputed"}
        ``"rbf"`` and ``"poly"`` are other names of the Gaussian and the polynomial.
        ``"precomputed"``: `X` is the matrix of kernel values, n x n to fit, and between n inputs
        and all training points to predict. k(x, x) of what is predicted is taken to be the
        training points' mean: normalise kernels where it differs much.
    gamma : float, "scale" or "auto", optional
        Gaussian: exp(-gamma \\|x - x'\\|^2). Laplacian: exp(-gamma \\|x - x'\\|_1). Polynomial:
        (gamma <x, x'> + coef0)^degree, 1 if left out. ``"scale"`` is 1 / (n_features * X.var()),
        ``"auto"`` 1 / n_features, as of scikit-learn's ``SVC``, of rows of norm 1 with
        `unit_inputs`.
    width : float, optional
        In the place of `gamma`. Gaussian: exp(-\\|x - x'\\|^2 / width^2). Laplacian:
        exp(-\\|x - x'\\|_1 / width). With neither it is, of a Gaussian with an automatic soft
        boundary, chosen by folds: 0.7 times the median distance of the training points, half or
        twice of it, and so on while that is better. It is 0.7 times the median distance where the
        boundary is given, and of a Laplacian the median distance.
    degree, coef0 : int, float
        Of the polynomial kernel.
    depth : int
        Of the arc-cosine kernel.
    unit_inputs : bool
        Scale every input to norm 1 first.
    sampler : {"perceptron", "billiard", "gibbs"}
        Permuted perceptrons for many points; billiards for the centre itself, and the kernel Gibbs
        sampler for wrong labels, of up to some thousand points.
    draws : int, optional
        10 for perceptrons, of up to 3000 points 30; 100 for the others.
    soft_boundary : "automatic", "hard" or float
        Chosen by folds; none, for data that can be separated; or lambda over k(x, x). Only
        ``"automatic"`` knows probabilities.
    bias : float, optional
        A constant beside the kernel, in units of the mean k(x, x). If left out, it is chosen of 0,
        0.3 and 1 with an automatic soft boundary; else it is 1, and 0 beside a precomputed kernel.
    class_weight : dict or "balanced", optional
        How much worse it is to miss a point of a class than one of weight 1. Labels are those of
        the largest weight times probability, and ``decision_function`` is the logarithm of that;
        ``predict_proba`` stays as it is. Where `soft_boundary` is given there are no probabilities:
        lambda is divided by the weight, and a hard boundary has none to divide.
    random_state : int, RandomState or None
        A whole number is the seed, with which C++ makes the same model; of a RandomState, or
        NumPy's global one (None), a seed is drawn.
    n_jobs : int, optional
        Threads. None: as many as there are processors, but one within a worker of joblib, such as
        those of ``GridSearchCV(n_jobs=2)``. -1: as many as there are processors, always. The
        model does not depend on it.
    memory : int
        Working memory of a fit in bytes.
    warm_start : bool
        A second ``fit`` to the same training set with more `draws` makes those that lack. One to
        another training set, or with other parameters, begins anew.
    keep_interrupted : bool
        What Ctrl-C leaves: True: a fitted estimator with the draws so far, where there is one;
        False: one that is not fitted. ``KeyboardInterrupt`` is raised in either case.
    verbose : int
        Above 0: progress, on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where `X` has column names that are strings.
    n_draws_ : int
    support_ : ndarray
        Numbers of the training points with a coefficient.
    soft_boundary_, label_noise_ : float
        What was chosen, or given.
    standard_error_ : float or None
        The estimated angle to the true centre in radians, of billiard and Gibbs sampler.
    width_ : float or None
        Of a Gaussian or Laplacian without `gamma`.
    bias_ : float
        What was chosen, or given, or the default.
    training_seconds_ : float
    warnings_ : list of str
        What the fit says against its model; ``FitWarning`` shows it.
    certified_risk_ : dict
        After ``certify_risk``.

    Notes
    -----
    Rows of float32, float64 and uint8 are read where they lie, if they are C-contiguous, and CSR
    matrices of float64. Until the estimator is fitted again it refers to them, so that draws can be
    added. Other numbers become float64, as do all with the billiard, the Gibbs sampler, and a
    Laplacian or precomputed kernel, but 5000 rows of float64 or more become float32 where these tell
    them apart as well. Products of uint8 are exact integers and the fastest.

    A pickle holds the model, not the training: it predicts the same numbers, and takes no draws; a
    warm start begins anew.

    Examples
    --------
    >>> import numpy as np
    >>> from bpm import BayesPointClassifier
    >>> random = np.random.RandomState(0)
    >>> X = random.uniform(-1, 1, (300, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> machine = BayesPointClassifier(width=0.5).fit(X, y)
    >>> machine.predict([[0.5, 0.5], [-0.5, 0.5]]).tolist()
    ['same', 'other']
    >>> machine.predict_proba([[0.5, 0.5]]).shape
    (1, 2)
    """

    def __init__(
        self,
        kernel: str = "gaussian",
        *,
        gamma: float | str | None = None,
        width: float | None = None,
        degree: int = 5,
        coef0: float = 1.0,
        depth: int = 2,
        unit_inputs: bool = False,
        sampler: str = "perceptron",
        draws: int | None = None,
        soft_boundary: str | float = "automatic",
        bias: float | None = None,
        class_weight: dict | str | None = None,
        random_state: Any = 1,
        n_jobs: int | None = None,
        memory: int = 1 << 30,
        warm_start: bool = False,
        keep_interrupted: bool = False,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.width = width
        self.degree = degree
        self.coef0 = coef0
        self.depth = depth
        self.unit_inputs = unit_inputs
        self.sampler = sampler
        self.draws = draws
        self.soft_boundary = soft_boundary
        self.bias = bias
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.warm_start = warm_start
        self.keep_interrupted = keep_interrupted
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, **unsupported: Any) -> BayesPointClassifier:
        """Fit to `X` and its classes `y`.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
        y : array-like of shape (n,)
            Numbers or words.
        **unsupported
            `sample_weight` is refused: there are class weights, and neither equals repeated rows.

        Returns
        -------
        BayesPointClassifier
            Itself.
        """
        with self._fitting():
            if not self.warm_start:
                self._forget()
            _one_of("sampler", self.sampler, _SAMPLERS)
            X, y, codes = self._labelled(X, y, self.sampler, unsupported)
            draws = _native.usual_draws(len(codes)) if self.sampler == "perceptron" else 100
            if self.draws is not None:
                draws = _whole("draws", self.draws, 1)
            if not self._goes_on(X, y):
                seed = _seed(self.random_state)
                words = {"sampler": self.sampler, "draws": draws, "seed": seed}
                self._refit(X, y, codes, words)
                return self
        if draws < self.n_draws_:
            raise ValueError(
                f"draws is {draws}, must be {self.n_draws_} or more: warm_start goes on from a fit "
                "with as many"
            )
        return self._more_draws(draws - self.n_draws_) if draws > self.n_draws_ else self

    def add_draws(self, draws: int) -> BayesPointClassifier:
        """Make more draws and take them in: 5 draws and 5 more equal 10 at once, to the bit.

        The soft boundary stays as it was chosen.

        Parameters
        ----------
        draws : int
            How many more, at least 1.

        Returns
        -------
        BayesPointClassifier
            Itself.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from bpm import BayesPointClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> machine = BayesPointClassifier(draws=5).fit(X, y).add_draws(5)
        >>> machine.n_draws_
        10
        """
        check_is_fitted(self, "_model")
        return self._more_draws(_whole("draws", draws, 1))

    def _more_draws(self, draws: int) -> BayesPointClassifier:
        try:
            self._take(*_native.add_draws(self._model, draws, self._watch()), more=True)
        finally:  # If it is interrupted, the draws before these stay.
            vars(self).pop("_raised", None)
        return self

    def _weighs_decisions(self) -> bool:
        return self.class_weight is not None and self.soft_boundary == "automatic"

    def _values(self, X: Any) -> NDArray:
        if getattr(self, "_weights", None) is None:
            return super()._values(X)
        least = np.finfo(np.float64).tiny
        found = self._model.probabilities(self._query_numbers(X), None)
        logs = np.log(np.maximum(found, least)) + self._weights
        return logs[:, 1:] - logs[:, :1] if logs.shape[1] == 2 else logs

    def _has_probabilities(self) -> bool:
        if self.soft_boundary != "automatic":
            raise AttributeError(
                "predict_proba is not available where soft_boundary is given: what is noted while "
                "'automatic' chooses makes probabilities"
            )
        return True

    @available_if(_has_probabilities)
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Probabilities of the classes, as frequent as in the training set.

        There are none where `soft_boundary` is given: ``CalibratedClassifierCV`` makes some.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``. The largest is that of the predicted class, but where
            class weights move the prediction.
        """
        check_is_fitted(self, "_model")
        return self._model.probabilities(self._query_numbers(X), None)

    def _take_facts(self, facts: dict[str, Any]) -> None:
        self.n_draws_ = facts["draws"]
        self.label_noise_ = facts["label_noise"]
        self.standard_error_ = facts["standard_error"]

    def _drawing_params(self) -> dict[str, Any]:
        """The parameters that a warm start must find as they were."""
        params = self.get_params(deep=False)
        for name in ("draws", "n_jobs", "memory", "warm_start", "keep_interrupted", "verbose"):
            params.pop(name, None)
        params["class_weight"] = deepcopy(self.class_weight)
        return params

    def _remember(self, X: Any, y: NDArray) -> None:
        # A matrix of kernel values was copied; other rows are referred to, and may be changed.
        trained_on = () if self.kernel == "precomputed" else (X, y)
        self._fitted_to = (_digest(X, y), self._drawing_params(), *trained_on)

    def _goes_on(self, X: Any, y: NDArray) -> bool:
        if not self.warm_start or not hasattr(self, "_fitted_to"):
            return False
        digest, params, *trained_on = self._fitted_to
        same = (digest, params) == (_digest(X, y), self._drawing_params())
        return same and (not trained_on or _digest(*trained_on) == digest)


class GaussianProcessBayesPointClassifier(_Machine):
    """Gaussian process classification by expectation propagation, whose mean is a Bayes point.

    The sampler of ``BayesPointClassifier`` is replaced by a Gaussian posterior, found at once and
    without chance, that gives probabilities and the evidence of kernels. For up to some thousand
    points. The predicted class is the most probable one, where C++ takes the one of the largest
    mean; so ``decision_function`` is, of two classes, the z whose Phi(z) is the probability, and of
    more the logarithms of the probabilities. (With a precomputed kernel variances are not known,
    and both are as of ``BayesPointClassifier``.)

    Parameters
    ----------
    kernel, gamma, width, degree, coef0, depth, unit_inputs
        As of ``BayesPointClassifier``, but that a width that is left out is 0.7 times the median
        distance (of a Laplacian the median), and a bias 1: no folds choose them.
    noise_deviation : float
        Above 0: the likelihood of a label is Phi(f / noise_deviation); 0: a step.
    soft_boundary : "automatic", "hard" or float
        ``"automatic"``: by the largest evidence.
    bias, class_weight, n_jobs, memory, verbose
        As of ``BayesPointClassifier``, but that with `class_weight` probabilities are those of the
        weighted classes, not of the classes' shares of the rows.

    Attributes
    ----------
    log_marginal_likelihood_value_ : float
        The mean over ``log_marginal_likelihoods_``, as of scikit-learn's
        ``GaussianProcessClassifier``: the larger, the better the kernel goes with the labels.
    log_marginal_likelihoods_ : ndarray of shape (1,) or (n_classes,)
        Of two classes one, of more one of each class against the rest.
    classes_, n_features_in_, feature_names_in_, support_, soft_boundary_, width_, warnings_,
    certified_risk_
        As of ``BayesPointClassifier``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bpm import GaussianProcessBayesPointClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = GaussianProcessBayesPointClassifier(width=2.0).fit(X, y)
    >>> machine.predict_proba(X[:1]).argmax()
    0
    >>> machine.log_marginal_likelihood_value_ < 0
    True
    """

    keep_interrupted = False

    def __init__(
        self,
        kernel: str = "gaussian",
        *,
        gamma: float | str | None = None,
        width: float | None = None,
        degree: int = 5,
        coef0: float = 1.0,
        depth: int = 2,
        unit_inputs: bool = False,
        noise_deviation: float = 0.0,
        soft_boundary: str | float = "automatic",
        bias: float | None = None,
        class_weight: dict | str | None = None,
        n_jobs: int | None = None,
        memory: int = 1 << 30,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.width = width
        self.degree = degree
        self.coef0 = coef0
        self.depth = depth
        self.unit_inputs = unit_inputs
        self.noise_deviation = noise_deviation
        self.soft_boundary = soft_boundary
        self.bias = bias
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    def fit(
        self, X: ArrayLike, y: ArrayLike, **unsupported: Any
    ) -> GaussianProcessBayesPointClassifier:
        """Fit to `X` and its classes `y`; see ``BayesPointClassifier.fit``."""
        with self._fitting():
            self._forget()
            X, y, codes = self._labelled(X, y, "expectation_propagation", unsupported)
            noise = _real("noise_deviation", self.noise_deviation)
            words = {"sampler": "expectation_propagation", "noise_deviation": noise}
            self._refit(X, y, codes, words)
        return self

    def _said_beside(self) -> list[str]:
        if self.class_weight is None:
            return []
        return [
            "class_weight: probabilities are those of the weighted classes, not of the classes' "
            "shares of the rows"
        ]

    def predict_proba(self, X: ArrayLike, diagonal: ArrayLike | None = None) -> NDArray:
        """Probabilities of the classes under the posterior.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
        diagonal : array-like of shape (n,), optional
            With ``kernel="precomputed"``, and only there: k(x, x) of every row.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``. The largest is that of the predicted class, but for
            ``kernel="precomputed"``, where ``predict`` does not know the variances.
        """
        check_is_fitted(self, "_model")
        if diagonal is not None:
            if self.kernel != "precomputed":
                raise ValueError(f"diagonal is given, which the kernel {self.kernel!r} computes")
            diagonal = np.ascontiguousarray(diagonal, dtype=np.float64)
            if diagonal.ndim != 1:
                raise ValueError(f"diagonal has {diagonal.ndim} dimensions, expected 1")
        return self._model.probabilities(self._query_numbers(X), diagonal)

    def _needs_diagonal(self) -> bool:
        return self.kernel == "precomputed"

    def _take_facts(self, facts: dict[str, Any]) -> None:
        self.log_marginal_likelihoods_ = np.asarray(facts["log_evidence"])
        self.log_marginal_likelihood_value_ = float(np.mean(self.log_marginal_likelihoods_))
