# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any

from numpy import bool_, float64, int32, uint8
from numpy.typing import NDArray

__version__: str

_Progress = Callable[[str, float, int, int], None] | None

class Model:
    @property
    def kind(self) -> str: ...
    @property
    def facts(self) -> dict[str, Any]: ...
    def decision_values(self, inputs: Any) -> NDArray[float64]: ...
    def probabilities(
        self, inputs: Any, diagonal: NDArray[float64] | None
    ) -> NDArray[float64]: ...
    def to_bytes(self) -> bytes: ...

def fit(
    request: dict[str, Any], inputs: Any, labels: NDArray[int32], progress: _Progress
) -> tuple[Model, BaseException | None]: ...
def add_draws(
    model: Model, draws: int, progress: _Progress
) -> tuple[Model, BaseException | None]: ...
def load(kind: str, bytes: bytes, threads: int) -> Model: ...
def median_distance(inputs: Any) -> float: ...
def gap_scores(values: NDArray[float64]) -> list[float]: ...
def rejected_by_rate(scores: list[float], rate: float) -> NDArray[bool_]: ...
def certify_risk(
    scores: list[float], correct: list[bool], risk: float, delta: float
) -> dict[str, Any]: ...
def gradient_features(
    images: NDArray[uint8], rows: int, columns: int, threads: int
) -> NDArray[uint8]: ...
def elastic_copies(
    images: NDArray[uint8],
    rows: int,
    columns: int,
    copies: int,
    affine: float,
    elastic: float,
    width: float,
    seed: int,
    threads: int,
) -> NDArray[uint8]: ...
