"""The logistic loss with the closed-form dual step of Shalev-Shwartz & Zhang (2013): D rises, but is not maximized."""

from __future__ import annotations

from dualgap.kernels.families.base import exact_coordinate_step
from dualgap.kernels.families.logistic import LogisticFamily, sigmoid

# The largest φ″.
SMOOTHNESS = 0.25


class LogisticClosedFormFamily(LogisticFamily):
    """The logistic family with another dual step."""

    __slots__ = ()

    def dual_step(self, score, label, dual, dual_curvature):
        candidate = label * sigmoid(-label * score)
        moved = dual + (candidate - dual) / max(1.0, SMOOTHNESS + dual_curvature)
        return label * min(max(label * moved, 0.0), 1.0)

    coordinate_step = exact_coordinate_step


FAMILY = LogisticClosedFormFamily
