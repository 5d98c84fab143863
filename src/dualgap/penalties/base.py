"""What every penalty says about itself, in units of the strength λ: value, conjugate, ∇r*, proximal step, and its part of the gap.

g(w) = λ·r(w) with r(w) = ρ‖w‖₁ + (1 − ρ)/2 ‖w‖² ;      g*(v) = λ·r*(x) and ∇g*(v) = ∇r*(x) with x = v/λ
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class PenaltyGap(NamedTuple):
    """r(w) + r*(x) − ⟨w, x⟩ = linear + (1 − ρ)/2·‖difference‖², neither of which is negative."""

    linear: float
    """Σ |w_j|(ρ − sign(w_j)·c_j) with c = x clipped to [−ρ, ρ]."""
    difference: Vector
    """w − ∇r*(x); zeros for ρ = 1, where it does not exist and does not count."""


class Penalty(ABC):
    """r(w), the penalty in units of the strength λ."""

    name: ClassVar[str]
    formula: ClassVar[str]

    @property
    @abstractmethod
    def l1_ratio(self) -> float:
        """ρ, the L1 part."""

    @property
    def l2_ratio(self) -> float:
        """1 − ρ: r is strongly convex, and ∇r* Lipschitz, by this number and its reciprocal."""
        return 1.0 - self.l1_ratio

    @property
    def is_sparse(self) -> bool:
        """Whether the best weights can be exactly zero."""
        return self.l1_ratio > 0.0

    @property
    def has_dual_weights(self) -> bool:
        """Whether duals determine weights w(α) = ∇r*(x)."""
        return self.l1_ratio < 1.0

    @abstractmethod
    def value(self, weights: Vector) -> float:
        """r(w)."""

    @abstractmethod
    def conjugate(self, combination: Vector) -> float:
        """r*(x); infinite outside its domain."""

    @abstractmethod
    def dual_weights(self, combination: Vector) -> Vector:
        """∇r*(x), the weights that duals determine."""

    @abstractmethod
    def prox(self, weights: Vector, step: float) -> Vector:
        """argmin over u of step·r(u) + ‖u − w‖²/2."""

    @abstractmethod
    def gap(self, weights: Vector, combination: Vector) -> PenaltyGap:
        """The two parts of r(w) + r*(x) − ⟨w, x⟩, for x in the domain of r*."""
