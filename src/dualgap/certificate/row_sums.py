"""What a certificate sums over rows with one score each: totals of some rows, and the means of all of them."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate.bounds import RowSums, gamma
from dualgap.losses.base import LOSS_ROUNDING, SLACK, RowTerms
from dualgap.problem import root_of_squares, total

Vector = NDArray[np.float64]


class Totals(NamedTuple):
    """Sums over some rows, which are added, and roots of sums of squares, which are added as such."""

    linear: Vector
    """Σ s φ, Σ −s φ*(−α), Σ s |φ*(−α)|, Σ s h, and Σ s e·rate where each e is known."""
    roots: Vector
    """√Σ s·rate², √Σ s α², √Σ s t²."""


def row_totals(
    terms: RowTerms, arguments: Vector, duals: Vector, weights: Vector | None, reach: float | Vector
) -> Totals:
    """The totals of some rows from their terms, which are changed in place; each argument may be off by `reach`."""
    values, conjugates, gaps, rates = terms
    if weights is not None and not np.isfinite(rates).all():
        # A row without weight does not count, however far its score is out.
        for vector in (values, gaps, rates):
            vector[weights == 0.0] = 0.0
    cost = 0.0 if isinstance(reach, float) else total(weights, reach * rates)
    linear = [
        total(weights, values),
        total(weights, conjugates),
        total(weights, np.abs(conjugates, out=conjugates)),
        total(weights, gaps),
        cost,
    ]
    return Totals(np.array(linear), np.array([root_of_squares(weights, v) for v in (rates, duals, arguments)]))


def sum_of(parts: Iterable[Totals]) -> Totals:
    """The totals of several slices, in their order."""
    found = list(parts)
    return Totals(np.sum([part.linear for part in found], axis=0), np.hypot.reduce([part.roots for part in found]))


def row_sums(totals: Totals, total_weight: float, operations: int, score_error: float | None) -> RowSums:
    """The means of all rows, whose terms passed through `operations` additions and products.

    Where the score errors are known by their root mean square alone, ⟨e·rate⟩ ≤ √⟨e²⟩√⟨rate²⟩.
    """
    means = totals.linear / total_weight
    per_row = sqrt(1.0 + gamma(operations + 2)) * SLACK / sqrt(total_weight)
    rate, dual, size = (float(root) * per_row for root in totals.roots)
    cost = float(means[4]) * (1.0 + gamma(operations + 2)) if score_error is None else rate * score_error
    # Rates are computed within LOSS_ROUNDING of themselves and of the duals.
    cost *= 1.0 + 2.0 * LOSS_ROUNDING
    values, conjugates, sizes, gaps = map(float, means[:4])
    return RowSums(values, conjugates, sizes, gaps, cost, rate, dual, size, values, dual)
