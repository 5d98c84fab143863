"""What a rival says about itself: its name, the package it needs, the losses it can do, and how it fits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.losses import Loss

Vector = NDArray[np.float64]


class Fit(NamedTuple):
    """The weights of a fit, how many iterations of its own kind it made, and its duals, where it says so."""

    weights: Vector
    iterations: int | None = None
    duals: Vector | None = None


class Rival(ABC):
    """A way to minimize P(w) = (1/n) Σ φ_i(⟨x_i, w⟩) + (λ/2) ‖w‖² that somebody else wrote."""

    name: ClassVar[str]
    package: ClassVar[str]  # as pip knows it
    module: ClassVar[str]  # as Python knows it
    losses: ClassVar[tuple[str, ...]]
    loosest: ClassVar[float] = 1.0
    tightest: ClassVar[float] = 1e-9
    fits_intercepts: ClassVar[bool] = False
    max_iterations: ClassVar[int] = 10**8  # a number that no fit reaches in its time
    threaded: ClassVar[bool] = False  # whether threads take part: as many of its own as it is told, or those of BLAS

    def available(self) -> bool:
        """Whether its package is installed; nothing is imported."""
        return find_spec(self.module) is not None

    def refusal(self, loss: str) -> str:
        """What is said of a loss that is none of its `losses`."""
        return f"{self.name} does {', '.join(self.losses)} only, got {loss}; race it under a loss it knows"

    def tolerances(self) -> list[float]:
        """The ladder of its own stopping tolerance, two rungs a decade."""
        rungs = round(2 * np.log10(self.loosest / self.tightest))
        return [float(f"{self.loosest * 10 ** (-rung / 2):.3g}") for rung in range(rungs + 1)]

    def table(self, X: Any, y: Vector) -> tuple[Any, Any]:
        """The rows and labels in the form it takes without converting them again."""
        return X, y

    @abstractmethod
    def fit(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        strength: float,
        tolerance: float,
        *,
        rows: int,
        seed: int,
        iterations: int,
        threads: int = 1,
    ) -> Fit:
        """Fit to a tolerance of its own, in at most `iterations` of its own; X and y come from `table`.

        `threads` reaches rivals that start threads by themselves; what BLAS and OpenMP do is the caller's to limit.
        """
