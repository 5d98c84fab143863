"""The scalar functions that every loss family has, and their compiled versions, generated here for all families.

A family is a NamedTuple class whose methods have the names and arguments of `ScalarFunctions`. A kernel calls
`loss.dual_step(…)`: plain Python finds the method, and compiled code is specialized for the class when Numba compiles it.
"""

from __future__ import annotations

from inspect import signature
from typing import Protocol

from numba import types
from numba.extending import overload_method

from dualgap.kernels.compile import OPTIONS

# Extrapolation may bring a dual under a curved conjugate to this fraction of its distance from an end, which it never reaches.
END_FRACTION = 0.125
# Below this size of its argument a difference is summed from its series, whose terms are right to three digits or more.
SERIES_LIMIT = 0.05


class ScalarFunctions(Protocol):
    """What a kernel asks of a loss for one row with score z, label y and dual α."""

    def negative_derivative(self, score, label):
        """−φ′(z)."""

    def dual_step(self, score, label, dual, dual_curvature):
        """The α′ that maximizes −φ*(−α′) − (α′ − α)·score − dual_curvature·(α′ − α)²/2, exactly unless the family says otherwise."""

    def coordinate_step(self, score, label, dual, dual_curvature):
        """A new dual that gains nearly as much as `dual_step`, and about the Fenchel gap before the step, for less work where possible."""

    def kkt_violation(self, score, label, dual):
        """How far the dual is from optimal for this score; negative where a bound or kink holds the dual strictly."""

    def fenchel_gap(self, score, label, dual):
        """φ(z) + φ*(−α) + αz ≥ 0, the row's term of the duality gap."""

    def conjugate_slope(self, label, dual):
        """The derivative of −φ*(−α) inside `conjugate_interval`."""

    def conjugate_second_derivative(self, label, dual):
        """Minus the second derivative of −φ*(−α)."""

    def conjugate_remainder(self, label, dual, move):
        """The change of −φ*(−α) over a move, minus its second-order Taylor polynomial."""

    def conjugate_interval(self, label, dual):
        """The interval around a dual within which extrapolation may move it; the dual alone where a bound or a kink holds it."""

    def conjugate_curvature_varies(self):
        """Whether the conjugate's second derivative changes inside the interval; no bound ever holds such a family's dual."""


NAMES = tuple(name for name in vars(ScalarFunctions) if not name.startswith("_"))


def exact_coordinate_step(self, score, label, dual, dual_curvature):
    """`coordinate_step` for families whose dual step and gap are short formulas."""
    return self.dual_step(score, label, dual, dual_curvature), self.fenchel_gap(score, label, dual)


def _compile_method(name):
    """Let compiled code call the method `name` of any family."""

    def method_of(self, *others):
        return getattr(self.instance_class, name, None)

    method_of.__name__ = name
    method_of.__signature__ = signature(getattr(ScalarFunctions, name))
    overload_method(types.BaseNamedTuple, name, jit_options=OPTIONS)(method_of)


for _name in NAMES:
    _compile_method(_name)
