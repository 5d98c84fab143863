"""What every loss says about itself: value, conjugate, dual candidate, and the constants that follow from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf, isfinite
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.linalg.elementary import is_number, soft
from dualgap.linalg.floats import UNIT

Vector = NDArray[np.float64]

# Roundings in a value of `terms` at most: its relative error is at most 32 u. Fewer would be a promise that exp and log cannot keep
# (4 units in the last place each are assumed); more would widen every bound on rounding.
LOSS_OPERATIONS = 32
LOSS_ROUNDING = LOSS_OPERATIONS * UNIT
# A bound itself is computed with some dozens of operations; a bound times this factor is safe against their rounding.
SLACK = 1.0 + 2.0**-45


class RowTerms(NamedTuple):
    """What a certificate sums over rows, at given scores and duals."""

    values: Vector
    """φ(z)."""
    conjugates: Vector
    """−φ*(−α)."""
    gaps: Vector
    """h = φ(z) + φ*(−α) + αz ≥ 0, the row's part of the gap."""
    rates: Vector
    """At least |φ′(z′) + α| for every z′ within `reach` of the score: how fast h changes with the score there."""


class Loss(ABC):
    """φ(z) for one row, as the largest lower line: φ(z) = max over α of −φ*(−α) − αz."""

    name: ClassVar[str]
    task: ClassVar[Literal["classification", "regression"]]
    formula: ClassVar[str]
    family: ClassVar[str]
    """The file in `kernels/families/` with the scalar functions that kernels need of this loss."""

    largest_score_step: ClassVar[float] = inf
    """A line search first tries a step that raises no score by more; finite where e^z could overflow."""

    smallest_label: ClassVar[float] = -inf
    """The smallest target that the loss is defined for."""

    has_product_form: ClassVar[bool] = False
    """Whether `terms` computes h as a sum of products ≥ 0 of the argument, and not as a difference of large numbers."""

    @abstractmethod
    def value(self, scores: Vector, labels: Vector) -> Vector:
        """φ(z) for each row."""

    @abstractmethod
    def negative_conjugate(self, duals: Vector, labels: Vector) -> Vector:
        """−φ*(−α) for each row; −∞ outside the domain."""

    @abstractmethod
    def dual_candidate(self, scores: Vector, labels: Vector) -> Vector:
        """−φ′(z) for each row: the dual for which Fenchel–Young is an equality at this score."""

    def argument(self, scores: Vector, labels: Vector, low: Vector | None = None) -> Vector:
        """The number of each row that `terms` is a function of: here the score. `low` are further digits of the scores."""
        return scores if low is None else scores + low

    @property
    def argument_scale(self) -> float:
        """The size of the constants that are added to an argument inside `terms`."""
        return 0.0

    def terms(self, argument: Vector, duals: Vector, labels: Vector, reach: float | Vector) -> RowTerms:
        """What a certificate sums over rows; each argument may be off by `reach`.

        h is computed within 32u·(φ + |φ*| + |αz|), and in product form within 32u·(h + rate·(|argument| + argument_scale)).
        """
        values, conjugates = self.value(argument, labels), self.negative_conjugate(duals, labels)
        rates = np.abs(self.dual_candidate(argument, labels) - duals)
        return RowTerms(
            values, conjugates, self._difference(values, conjugates, duals, argument), rates + self._change(reach)
        )

    def _change(self, reach: float | Vector) -> float | Vector:
        """How far φ′ can move while the score moves by `reach`."""
        return np.minimum(self.smoothness * SLACK * reach, 2.0 * self.lipschitz)

    @staticmethod
    def _difference(values: Vector, conjugates: Vector, duals: Vector, scores: Vector) -> Vector:
        """h, summed plainly; a value below zero is rounding."""
        gaps = values - conjugates
        gaps += duals * scores
        return np.maximum(gaps, 0.0, out=gaps)

    @abstractmethod
    def clip(self, duals: Vector, labels: Vector) -> Vector:
        """The nearest dual inside the domain, for each row."""

    def holds(self, duals: Vector, labels: Vector) -> bool:
        """Whether every dual is inside the domain."""
        return bool((self.clip(duals, labels) == duals).all())

    @abstractmethod
    def second_derivative(self, scores: Vector, labels: Vector) -> Vector:
        """φ″(z) for each row (0 where a kink has none)."""

    def derivatives(self, scores: Vector, labels: Vector) -> tuple[Vector, Vector]:
        """−φ′(z) and φ″(z) for each row, together, because they share most of their work."""
        return self.dual_candidate(scores, labels), self.second_derivative(scores, labels)

    def derivatives_at(self, argument: Vector, labels: Vector) -> tuple[Vector, Vector]:
        """−φ′ and φ″ of each row from the argument of the loss; here that is the score."""
        return self.derivatives(argument, labels)

    @abstractmethod
    def ray_limit(self, duals: Vector, labels: Vector) -> float:
        """The largest t ≥ 0 for which every t·α is inside the domain."""

    @abstractmethod
    def ray_slope(self, t: float, duals: Vector, labels: Vector) -> Vector:
        """d/dt of −φ*(−tα) for each row, inside the domain; it falls with t."""

    @property
    @abstractmethod
    def smoothness(self) -> float:
        """The largest φ″; infinite for a loss with a kink, and for one whose φ″ is unbounded."""

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """The largest |φ′|, which bounds |α| too; infinite where duals are unbounded, as for a loss that grows like a square."""

    @property
    @abstractmethod
    def has_kink(self) -> bool:
        """Whether φ′ jumps at some score; a loss without kinks need not have a finite `smoothness`."""

    def check_labels(self, labels: Vector, sample_weight: Vector | None, intercept: bool) -> None:
        """Refuse targets that the loss is not defined for, or for which no best intercept exists."""
        smallest = float(labels.min(initial=inf))
        if smallest < self.smallest_label:
            raise ValueError(
                f"{self.name} needs targets y ≥ {self.smallest_label:g}, got {smallest:g}; choose another regression loss, such as squared"
            )

    def best_intercept(self, scores: Vector, labels: Vector, sample_weight: Vector | None) -> float | None:
        """The b that minimizes Σ s_i φ(z_i + b), where the loss has a formula for it."""
        return None

    def predictions(self, scores: Vector) -> Vector:
        """The target that each score predicts; here the score itself."""
        return scores

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
    """φ(z) = ψ(t) = max over lower ≤ a ≤ upper of at − ε|a| − γa²/2, with the excess t = origin − orientation·z.

    With the dual a = orientation·α, c = t clipped to [−ε, ε], e = t − c and â the maximizer, the row's part of the gap is

    h = (γ/2)(â − a)² + (upper − a)(e − γ·upper)₊ + (a − lower)(γ·lower − e)₊ + a₊(ε − c) + a₋(ε + c),

    a sum of products none of which is negative, so that nothing cancels.
    """

    has_product_form = True

    @property
    def tube(self) -> float:
        """ε: an excess up to here costs nothing."""
        return 0.0

    @property
    @abstractmethod
    def lower(self) -> float:
        """The lower end of the dual's interval."""

    @property
    @abstractmethod
    def upper(self) -> float:
        """The upper end of the dual's interval."""

    @abstractmethod
    def signed(self, duals: Vector, labels: Vector) -> Vector:
        """a = orientation·α for each row."""

    @property
    def argument_scale(self) -> float:
        ends = [abs(end) for end in (self.lower, self.upper) if isfinite(end)]
        return self.tube + self.dual_gamma * max(ends, default=0.0)

    def terms(self, argument: Vector, duals: Vector, labels: Vector, reach: float | Vector) -> RowTerms:
        a = self.signed(duals, labels)
        within_tube = within(argument, -self.tube, self.tube) if self.tube else None
        excess = argument if within_tube is None else argument - within_tube
        gaps = self._gaps(excess, a)
        if within_tube is not None:
            gaps += np.maximum(a, 0.0) * (self.tube - within_tube) + np.maximum(-a, 0.0) * (self.tube + within_tube)
        conjugates = self.negative_conjugate(duals, labels)
        reach = SLACK * reach
        if self.tube or self.dual_gamma:
            # At zero the sign of an argument is right however it is rounded; at other edges it is not.
            reach = reach + LOSS_ROUNDING * (np.abs(argument) + self.argument_scale)
        return RowTerms(self._values(excess), conjugates, gaps, self._rates(argument, a, reach))

    def value(self, scores: Vector, labels: Vector) -> Vector:
        return self._values(soft(self.argument(scores, labels), self.tube))

    def derivatives_at(self, argument: Vector, labels: Vector) -> tuple[Vector, Vector]:
        excess = soft(argument, self.tube)
        a = self._maximizer(excess)
        if self.dual_gamma == 0.0:
            return self.signed(a, labels), np.zeros_like(a)
        is_curved = (a > self.lower) & (a < self.upper)
        if self.tube:
            is_curved &= np.abs(argument) >= self.tube
        return self.signed(a, labels), is_curved / self.dual_gamma

    def _values(self, excess: Vector) -> Vector:
        """ψ as a function of e."""
        if self.dual_gamma == 0.0:
            return np.maximum(self.upper * excess, self.lower * excess)
        a = self._maximizer(excess)
        return a * excess - (0.5 * self.dual_gamma) * (a * a)

    def _maximizer(self, excess: Vector) -> Vector:
        """â as a function of e; zero on a kink."""
        if self.dual_gamma == 0.0:
            return np.where(excess > 0.0, self.upper, np.where(excess < 0.0, self.lower, 0.0))
        return within(excess / self.dual_gamma, self.lower, self.upper)

    def _gaps(self, excess: Vector, a: Vector) -> Vector:
        """h without the tube's two terms."""
        gamma, low, high = self.dual_gamma, self.lower, self.upper
        terms = []
        if gamma:
            square = self._maximizer(excess) - a
            square *= square
            square *= 0.5 * gamma
            terms.append(square)
        if isfinite(high):
            terms.append(_product(high - a, excess - gamma * high))
        if isfinite(low):
            terms.append(_product(a - low, gamma * low - excess))
        gaps = terms[0]
        for term in terms[1:]:
            gaps += term
        return gaps

    def _rates(self, argument: Vector, a: Vector, reach: float | Vector) -> Vector:
        """max |ψ′ − a| within reach of the argument: ψ′ never falls, so it is largest at one of the two ends."""
        if self.dual_gamma == 0.0:
            highest, lowest = self._steepest(argument, reach), self._flattest(argument, reach)
        else:
            highest = self._maximizer(soft(argument + reach, self.tube))
            lowest = self._maximizer(soft(argument - reach, self.tube))
        highest -= a
        np.subtract(a, lowest, out=lowest)
        return np.maximum(highest, lowest, out=highest)

    def _steepest(self, argument: Vector, reach: float | Vector) -> Vector:
        """The largest slope of a loss with kinks within reach."""
        out = np.where(argument >= -self.tube * SLACK - reach, 0.0 if self.tube else self.upper, self.lower)
        if self.tube:
            out[argument >= self.tube / SLACK - reach] = self.upper
        return out

    def _flattest(self, argument: Vector, reach: float | Vector) -> Vector:
        """The smallest slope of a loss with kinks within reach."""
        out = np.where(argument <= self.tube * SLACK + reach, 0.0 if self.tube else self.lower, self.upper)
        if self.tube:
            out[argument <= reach - self.tube / SLACK] = self.lower
        return out

    @property
    def dual_gamma(self) -> float:
        """γ, the curvature of the conjugate; 0 for a loss with a kink."""
        return 0.0

    @property
    def has_kink(self) -> bool:
        return self.dual_gamma == 0.0

    @property
    def smoothness(self) -> float:
        return 1.0 / self.dual_gamma if self.dual_gamma > 0 else float("inf")


def _product(factors: Vector, values: Vector) -> Vector:
    """factors·max(values, 0), in place of the values."""
    np.maximum(values, 0.0, out=values)
    values *= factors
    return values


def within(values: Vector, low: float, high: float) -> Vector:
    """The nearest values in [low, high]; np.clip takes longer to be called than short vectors to be filled."""
    out = np.maximum(values, low)
    return np.minimum(out, high, out=out)


def refuse_outside(lines: Vector, duals: Vector, low: float, high: float) -> Vector:
    """In place: −∞ where a dual is not in [low, high], which mostly is nowhere."""
    if not (duals.min(initial=0.0) >= low and duals.max(initial=0.0) <= high):
        lines[~((duals >= low) & (duals <= high))] = -np.inf
    return lines


def positive(owner: str, name: str, value: Any) -> None:
    """Refuse a parameter that is not a positive finite number."""
    if not (is_number(value) and value > 0):
        raise ValueError(f"{owner} needs {name} > 0, got {value!r}; leave it out for its default")
