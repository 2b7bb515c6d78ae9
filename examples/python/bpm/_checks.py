# SPDX-License-Identifier: MIT
"""Parameters as C++ takes them, what is wrong with them, and what is said against fits."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import cpu_count
from joblib.parallel import get_active_backend
from sklearn.utils import check_random_state


class FitWarning(UserWarning):
    """What a fit says against its own model: one warning a fit, which says all of it."""


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}, must be one of {', '.join(allowed)}")


def _whole(name: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{name} is {value!r}, must be a whole number, {least} to {most}")
    return int(value)


def _real(name: str, value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}, must be a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is a whole number beyond every float") from None


def _fraction(name: str, value: Any) -> float:
    number = _real(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} is {value!r}, must lie between 0 and 1")
    return number


def _threads(n_jobs: int | None) -> int:
    """Threads for `n_jobs`; 0 is as many as there are processors."""
    if n_jobs is None:
        # Workers of joblib, as GridSearchCV(n_jobs=2) has them, share the processors already.
        return 1 if get_active_backend()[0].nesting_level else 0
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs is {n_jobs!r}, must be None or a whole number other than 0")
    if n_jobs < 0:
        return max(1, cpu_count() + 1 + int(n_jobs))
    return _whole("n_jobs", n_jobs, 1, 4096)


def _seed(random_state: Any) -> int:
    """A whole number is the seed itself, as in C++; of anything else one is drawn."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return _whole("random_state", random_state, 0)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
