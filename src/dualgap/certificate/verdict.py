"""What the judge says: a certificate, and the answer it is true of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.linalg.floats import SAFE_SQUARES
from dualgap.markup import facts_table
from dualgap.problem import Intercept

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Certificate:
    """P and D at one answer, and a gap that is proven: P − D in exact arithmetic is never larger.

    The proof takes the returned floats as they are and bounds every rounding error of the judge (docs/certificate.md).

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> problem = dg.Problem(np.eye(2), [-1, 1], "hinge", strength=0.5)
    >>> certificate = dg.solve(problem, tol=1e-6).certificate
    >>> certificate.proves(1e-6)
    True
    >>> certificate.gap >= certificate.primal - certificate.dual
    True
    """

    primal: float
    """P as computed."""
    dual: float
    """D as computed; 0 where it would be below, because zero duals give that."""
    gap: float
    """The computed gap plus `rounding`: at least P − D, and so at least P − P*."""
    rounding: float
    """The part of the gap that bounds the judge's own rounding errors."""
    primal_error: float
    """An upper bound on the difference of P from `primal`."""
    dual_error: float
    """An upper bound on the difference of D from `dual`; on row blocks D may also be above `dual`, which is a lower bound there."""
    reference: float
    """1e-12 of the cost of predicting a constant: below it a primal value counts as zero in the relative gap."""

    @property
    def scale(self) -> float:
        """The divisor of the relative gap: a lower bound on P, and at least `reference`."""
        return max(self.primal - self.primal_error, self.reference)

    @property
    def relative_gap(self) -> float:
        """The proven gap as a part of P.

        Where a constant costs nothing, P* is 0 and the relative gap is the gap itself, or 0 for a gap that is lost among
        the squares of weights and residuals that underflow.
        """
        if self.reference == 0.0:
            return self.gap if self.gap > SAFE_SQUARES else 0.0
        relative = self.gap / self.scale
        # Of values that left float64's range nothing is proven.
        return relative if relative == relative else float("inf")

    def proves(self, tol: float, gap_tol: float = 0.0) -> bool:
        """Whether the relative gap is at most tol, or the gap itself at most gap_tol, rounding included."""
        return self.relative_gap <= tol or self.gap <= gap_tol

    def seems_to_prove(self, tol: float, gap_tol: float = 0.0) -> bool:
        """Whether the computed gap is within one of the tolerances; rounding may have made it so."""
        return self.gap - self.rounding <= max(tol * max(self.primal, self.reference), gap_tol)

    def could_prove(self, tol: float, gap_tol: float = 0.0) -> bool:
        """Whether rounding leaves room for a proof of a relative gap of tol, or of a gap of gap_tol."""
        return self.rounding < max(tol * self.scale, gap_tol)

    @property
    def is_rounding(self) -> bool:
        """Whether rounding is the larger part of the gap."""
        return self.gap <= 2.0 * self.rounding

    @property
    def contradicts_weak_duality(self) -> bool:
        """Whether D is larger than P, beyond what rounding explains."""
        return self.primal + self.primal_error < self.dual - self.dual_error

    @property
    def is_broken(self) -> bool:
        """Weak duality is violated beyond rounding, or a value is not a number: something computed wrongly."""
        return not (np.isfinite(self.primal) and np.isfinite(self.dual)) or self.contradicts_weak_duality

    def __str__(self) -> str:
        return (
            f"primal {self.primal:.10g}, dual {self.dual:.10g}, gap {self.gap:.3g} (relative {self.relative_gap:.3g})"
        )

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        return facts_table(
            "Certificate",
            [
                ("primal", f"{self.primal:.10g}"),
                ("dual", f"{self.dual:.10g}"),
                ("gap", f"{self.gap:.3g}, of which rounding is at most {self.rounding:.2g}"),
                ("relative gap", f"{self.relative_gap:.3g}"),
            ],
        )


class Judgement(NamedTuple):
    """A certificate and the answer it is true of."""

    certificate: Certificate
    weights: Vector
    intercept: Intercept
    duals: Vector
    scores: Vector
    is_rounding: bool
    """Whether rounding is the larger part of the gap that the duals prove in float64."""
