"""What every loss says about itself: value, conjugate, dual candidate, and the constants that follow from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import isfinite
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

# A dual this far outside its interval, relative to the interval, is rounding and not a violation.
EDGE = 1e-12


class Loss(ABC):
    """φ(z) for one row, as the largest lower line: φ(z) = max over α of −φ*(−α) − αz."""

    name: ClassVar[str]
    task: ClassVar[Literal["classification", "regression"]]
    formula: ClassVar[str]

    @abstractmethod
    def value(self, scores: Vector, labels: Vector) -> Vector:
        """φ(z) for each row."""

    @abstractmethod
    def negative_conjugate(self, duals: Vector, labels: Vector) -> Vector:
        """−φ*(−α) for each row; −∞ outside the domain."""

    @abstractmethod
    def dual_candidate(self, scores: Vector, labels: Vector) -> Vector:
        """−φ′(z) for each row: the dual for which Fenchel–Young is an equality at this score."""

    @abstractmethod
    def clip(self, duals: Vector, labels: Vector) -> Vector:
        """The nearest dual inside the domain, for each row."""

    def holds(self, duals: Vector, labels: Vector) -> bool:
        """Whether every dual is inside the domain."""
        return bool((self.clip(duals, labels) == duals).all())

    @abstractmethod
    def curvature(self, scores: Vector, labels: Vector) -> Vector:
        """φ″(z) for each row (0 where a kink has none)."""

    def slopes(self, scores: Vector, labels: Vector) -> tuple[Vector, Vector]:
        """−φ′(z) and φ″(z) for each row, together, because they share most of their work."""
        return self.dual_candidate(scores, labels), self.curvature(scores, labels)

    def jerk(self, duals: Vector, bends: Vector, labels: Vector) -> Vector | None:
        """φ‴ for each row whose −φ′ and φ″ are these; None where it is zero between kinks."""
        return None

    @abstractmethod
    def ray_limit(self, duals: Vector, labels: Vector) -> float:
        """The largest t ≥ 0 for which every t·α is inside the domain."""

    @abstractmethod
    def ray_slope(self, t: float, duals: Vector, labels: Vector) -> Vector:
        """d/dt of −φ*(−tα) for each row, inside the domain; it falls with t."""

    @property
    @abstractmethod
    def smoothness(self) -> float:
        """The largest φ″; infinite for a loss with a kink."""

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """The largest |φ′|; infinite for a loss that grows like a square."""

    @property
    def has_kink(self) -> bool:
        return not isfinite(self.smoothness)

    def kinks(self, labels: Vector) -> list[Vector]:
        """The scores at which φ′ jumps, one array per kink; empty for a smooth loss."""
        return []

    def smoothed(self, gamma: float) -> Loss:
        """The loss with γα²/2 added to its conjugate, at most γ·lipschitz²/2 below it and 1/γ-smooth."""
        raise ValueError(f"{self.name} is smooth already; smoothed(gamma) is for losses with a kink")

    def parameters(self) -> dict[str, float]:
        """The numbers a compiled kernel needs to know this loss by."""
        return {}


class QuadraticFamily(Loss):
    """A loss whose conjugate is linear or quadratic inside its domain, with curvature γ."""

    @property
    def dual_gamma(self) -> float:
        """γ, the curvature of the conjugate; 0 for a loss with a kink."""
        return 0.0

    @property
    def smoothness(self) -> float:
        return 1.0 / self.dual_gamma if self.dual_gamma > 0 else float("inf")


def within(values: Vector, low: float, high: float) -> Vector:
    """The nearest values in [low, high]; np.clip takes longer to be called than short vectors to be filled."""
    out = np.maximum(values, low)
    return np.minimum(out, high, out=out)


def refuse_outside(lines: Vector, duals: Vector, low: float, high: float) -> Vector:
    """In place: −∞ where a dual is not in [low, high], which mostly is nowhere."""
    low, high = low * (1.0 + EDGE) if low else -EDGE, high * (1.0 + EDGE)
    if not (duals.min(initial=0.0) >= low and duals.max(initial=0.0) <= high):
        lines[~((duals >= low) & (duals <= high))] = -np.inf
    return lines


def is_number(value: Any) -> bool:
    """Whether a parameter is a finite real number, of Python or of NumPy."""
    return isinstance(value, int | float | np.integer | np.floating) and bool(np.isfinite(value))


def positive(owner: str, name: str, value: Any) -> None:
    """Refuse a parameter that is not a positive finite number."""
    if not (is_number(value) and value > 0):
        raise ValueError(f"{owner} needs {name} > 0, got {value!r}; the default is a good start")
