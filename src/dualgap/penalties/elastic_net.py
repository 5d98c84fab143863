"""Penalties with an L1 part, r(w) = ρ‖w‖₁ + (1 − ρ)/2 ‖w‖²: the elastic net for 0 < ρ < 1, and L1 for ρ = 1.

With c = x clipped to [−ρ, ρ] and u = ∇r*(x) = soft(x, ρ)/(1 − ρ), x = c + (1 − ρ)u, and so
r(w) + r*(x) − ⟨w, x⟩ = Σ |w_j|(ρ − sign(w_j)c_j) + (1 − ρ)/2 ‖w − u‖², in which nothing cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dualgap.linalg.elementary import is_number, soft
from dualgap.penalties.base import Penalty, PenaltyGap, Vector


def _linear_gap(weights: Vector, combination: Vector, l1_ratio: float) -> float:
    """Σ |w_j|(ρ − sign(w_j)·c_j), from the columns with a weight alone."""
    used = np.flatnonzero(weights)
    w = weights.reshape(-1)[used]
    toward = np.clip(np.sign(w) * combination.reshape(-1)[used], -l1_ratio, l1_ratio)
    return float(np.abs(w) @ (l1_ratio - toward))


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """r(w) = ρ‖w‖₁ + (1 − ρ)/2 ‖w‖² with 0 < ρ < 1: weights that help little are exactly zero.

    Examples
    --------
    >>> import numpy as np
    >>> from dualgap.penalties import ElasticNet
    >>> ElasticNet(0.5).dual_weights(np.array([0.25, -2.5]))
    array([ 0., -4.])
    """

    l1_ratio: float = 0.5

    name: ClassVar[str] = "elastic_net"
    formula: ClassVar[str] = "ρ‖w‖₁ + (1 − ρ)‖w‖²/2"

    def __post_init__(self) -> None:
        if not (is_number(self.l1_ratio) and 0.0 < self.l1_ratio < 1.0):
            raise ValueError(
                f"elastic_net needs 0 < l1_ratio < 1, got {self.l1_ratio!r}; L2 and L1 are penalties of their own"
            )

    def value(self, weights: Vector) -> float:
        squares = float(np.vdot(weights, weights))
        return self.l1_ratio * float(np.abs(weights).sum()) + 0.5 * self.l2_ratio * squares

    def conjugate(self, combination: Vector) -> float:
        excess = soft(combination, self.l1_ratio)
        return float(np.vdot(excess, excess)) / (2.0 * self.l2_ratio)

    def dual_weights(self, combination: Vector) -> Vector:
        return soft(combination, self.l1_ratio) / self.l2_ratio

    def prox(self, weights: Vector, step: float) -> Vector:
        return soft(weights, step * self.l1_ratio) / (1.0 + step * self.l2_ratio)

    def gap(self, weights: Vector, combination: Vector) -> PenaltyGap:
        linear = _linear_gap(weights, combination, self.l1_ratio)
        return PenaltyGap(linear, weights - self.dual_weights(combination))


@dataclass(frozen=True)
class L1(Penalty):
    """r(w) = ‖w‖₁: weights that help little are exactly zero, and duals do not determine the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from dualgap.penalties import L1
    >>> L1().value(np.array([3.0, -4.0])), L1().conjugate(np.array([1.0, -0.5]))
    (7.0, 0.0)
    """

    name: ClassVar[str] = "l1"
    formula: ClassVar[str] = "‖w‖₁"

    @property
    def l1_ratio(self) -> float:
        return 1.0

    def value(self, weights: Vector) -> float:
        return float(np.abs(weights).sum())

    def conjugate(self, combination: Vector) -> float:
        return 0.0 if float(np.abs(combination).max(initial=0.0)) <= 1.0 else float("inf")

    def dual_weights(self, combination: Vector) -> Vector:
        raise ValueError("the L1 penalty has no weights that follow from duals; take the weights of a solver")

    def prox(self, weights: Vector, step: float) -> Vector:
        return soft(weights, step)

    def gap(self, weights: Vector, combination: Vector) -> PenaltyGap:
        return PenaltyGap(_linear_gap(weights, combination, 1.0), np.zeros_like(weights))
