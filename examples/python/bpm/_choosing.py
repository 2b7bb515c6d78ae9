# SPDX-License-Identifier: MIT
"""The estimator that searches by itself, as scikit-learn's LogisticRegressionCV does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._checks import _one_of, _real, _whole
from ._classifiers import BayesPointClassifier

_SEARCHED = ("gaussian", "rbf", "polynomial", "poly", "linear", "arc_cosine")


class BayesPointClassifierCV(BayesPointClassifier):
    """Bayes point machine whose kernel, bias and soft boundary are chosen by cross-validation.

    As ``bpm choose`` on the command line: all candidates are judged on the same folds of about 3000
    rows, those far behind on the first fold are left there, and the winner and its neighbours are
    judged again on 8000 rows, where there are more. Machines of pairs of classes are tried as well.

    Parameters
    ----------
    kernel : {"gaussian", "polynomial", "linear", "arc_cosine"}
        ``"rbf"`` and ``"poly"`` are other names of the first two.
    widths : sequence of float, optional
        Of the Gaussian kernel. Left out: a quarter of the median distance of the rows to twice of
        it, and beyond where an end is best.
    degrees : sequence of int
        Of the polynomial kernel.
    gamma, coef0, depth, unit_inputs
        Of the other kernels, as of ``BayesPointClassifier``.
    biases : sequence of float
        In units of the mean k(x, x).
    one_against_one : bool
        Whether machines of pairs of classes are tried, for three to 30 classes.
    scoring : {"neg_log_loss", "accuracy"}
        What the choice makes large.
    cv : int
        Folds.
    sampler, draws, class_weight, random_state, n_jobs, memory, verbose
        As of ``BayesPointClassifier``.

    Attributes
    ----------
    best_params_ : dict
        What was chosen: "width" of a Gaussian or "degree" of a polynomial, "soft_boundary", "bias",
        "one_against_one", and of the Gibbs sampler "label_noise".
    best_score_ : float
        Its mean score out of fold, which the choice makes too large. Class weights, which move
        labels after the choice, have no part in it.
    best_index_ : int
    cv_results_ : dict of ndarray
        "params", "mean_test_score", "rank_test_score", "standard_error" and "error" of every
        candidate. What was left at the first fold is ranked last. Of those as good as the best one
        the softest is chosen, which need not have rank 1.
    classes_, n_features_in_, feature_names_in_, n_draws_, support_, soft_boundary_, width_, bias_,
    warnings_, certified_risk_
        As of ``BayesPointClassifier``. Machines of pairs of classes take no more draws.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bpm import BayesPointClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = BayesPointClassifierCV().fit(X, y)
    >>> sorted(machine.best_params_)
    ['bias', 'one_against_one', 'soft_boundary', 'width']
    """

    # These parameters of the parent are chosen here, or have one value.
    width = bias = None
    degree = 5
    soft_boundary = "automatic"
    warm_start = keep_interrupted = False

    def __init__(
        self,
        kernel: str = "gaussian",
        *,
        widths: ArrayLike | None = None,
        degrees: ArrayLike = (1, 2, 3, 5),
        gamma: float | str | None = None,
        coef0: float = 1.0,
        depth: int = 2,
        unit_inputs: bool = False,
        biases: ArrayLike = (0.0, 0.3, 1.0),
        one_against_one: bool = True,
        scoring: str = "neg_log_loss",
        cv: int = 5,
        sampler: str = "perceptron",
        draws: int | None = None,
        class_weight: dict | str | None = None,
        random_state: Any = 1,
        n_jobs: int | None = None,
        memory: int = 1 << 30,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.widths = widths
        self.degrees = degrees
        self.gamma = gamma
        self.coef0 = coef0
        self.depth = depth
        self.unit_inputs = unit_inputs
        self.biases = biases
        self.one_against_one = one_against_one
        self.scoring = scoring
        self.cv = cv
        self.sampler = sampler
        self.draws = draws
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose

    def _candidates(self, X: Any, request: dict[str, Any]) -> dict[str, Any]:
        _one_of("kernel", self.kernel, _SEARCHED)
        _one_of("scoring", self.scoring, ("neg_log_loss", "accuracy"))
        if self.widths is not None and (self._kernel != "gaussian" or self.gamma is not None):
            raise ValueError(
                f"widths is given, which the kernel {self.kernel!r} has not, or gamma makes"
            )
        biases = [_real("biases", bias) for bias in self.biases]
        if not biases:
            raise ValueError("biases is empty, must hold one or more")
        candidates: dict[str, Any] = {
            "choosing": True,
            "folds": self.cv,
            "by_error": self.scoring == "accuracy",
            "bias": biases[-1],
            "biases": biases,
            "one_against_one": bool(self.one_against_one),
        }
        if self._kernel == "polynomial":
            candidates["degrees"] = [_whole("degrees", d, 1, 64) for d in self.degrees]
            if not candidates["degrees"]:
                raise ValueError("degrees is empty, must hold one or more")
        elif self._kernel == "gaussian" and self.gamma is None:
            if self.widths is not None:
                candidates["widths"] = sorted(_real("widths", width) for width in self.widths)
                if not candidates["widths"]:
                    raise ValueError("widths is empty, must hold one or more")
                candidates["width"] = candidates["widths"][0]
            else:
                candidates["median"] = request["width"] / _native.usual_width
        return candidates

    def _width_or_gamma(self, X: Any) -> dict[str, float]:
        return {} if self.widths is not None else super()._width_or_gamma(X)

    def _judges(self, y: NDArray) -> bool:
        counts = np.unique(y, return_counts=True)[1]
        most = int(counts[counts > 1].sum())
        if most < _whole("cv", self.cv, 2):
            raise ValueError(
                f"cv is {self.cv}, but X has n_samples = {most} that are not alone in their class"
            )
        return True

    def _take_choice(self, chosen: dict[str, Any]) -> None:
        super()._take_choice(chosen)
        names = ["soft_boundary", "bias", "one_against_one"]
        if self.sampler == "gibbs":
            names.append("label_noise")
        params = [
            parameters | {name: chosen[name][i] for name in names}
            for i, parameters in enumerate(chosen["parameters"])
        ]
        loss, error = np.asarray(chosen["loss"]), np.asarray(chosen["error"])
        scores = 1 - error if self.scoring == "accuracy" else -loss
        scores[~np.asarray(chosen["consistent"])] = np.nan
        whole = np.asarray(chosen["whole"]) & np.isfinite(scores)
        order = np.lexsort((-scores, ~whole))
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(1, len(order) + 1)
        self.cv_results_ = {
            "params": params,
            "mean_test_score": scores,
            "standard_error": np.asarray(chosen["standard_error"]),
            "rank_test_score": rank,
            "error": error,
        }
        self.best_index_ = int(chosen["best"])
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(scores[self.best_index_])

