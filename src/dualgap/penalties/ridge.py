"""The L2 penalty r(w) = ‖w‖²/2, its own conjugate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dualgap.penalties.base import Penalty, PenaltyGap, Vector


@dataclass(frozen=True)
class L2(Penalty):
    """r(w) = ‖w‖²/2: no weight is exactly zero.

    Examples
    --------
    >>> import numpy as np
    >>> from dualgap.penalties import L2
    >>> L2().value(np.array([3.0, 4.0]))
    12.5
    """

    name: ClassVar[str] = "l2"
    formula: ClassVar[str] = "‖w‖²/2"

    @property
    def l1_ratio(self) -> float:
        return 0.0

    def value(self, weights: Vector) -> float:
        return 0.5 * float(np.vdot(weights, weights))

    def conjugate(self, combination: Vector) -> float:
        return self.value(combination)

    def dual_weights(self, combination: Vector) -> Vector:
        return combination

    def prox(self, weights: Vector, step: float) -> Vector:
        return weights / (1.0 + step)

    def gap(self, weights: Vector, combination: Vector) -> PenaltyGap:
        return PenaltyGap(0.0, weights - combination)
