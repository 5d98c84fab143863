"""Fits without a penalty: C=inf, alpha=0 or penalty=None, for which λ is 0 to the user and tiny to the solver."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dualgap.data.columns import mean_squares
from dualgap.data.rows import Rows
from dualgap.estimators.notes import note

Vector = NDArray[np.float64]

# λ as a part of the smallest column's variance. A hundred times as much raises P of quantile regression on diabetes by 0.1 %;
# a hundredth leaves the hinge loss on separable classes (wine, unscaled) without a proof of 1e-4.
TINY_PART = 1e-8


def effective_strength(strength: float, rows: Rows, sample_weight: Vector | None, intercept: bool) -> float:
    """λ as given; for λ = 0 a tiny one, because P without a penalty need not have a minimum, nor a finite dual bound."""
    if strength > 0.0:
        return strength
    squares = mean_squares(rows, sample_weight, centered=intercept)
    varying = squares[squares > 0.0]
    return TINY_PART * float(varying.min()) if varying.size else TINY_PART


def note_tiny_strength(estimator_name: str, strengths: Sequence[float], has_alpha: bool) -> None:
    """Name the λ that stood for no penalty; `has_alpha` says that the estimator has `alpha` where others have `C`."""
    if not strengths:
        return
    low, high = min(strengths), max(strengths)
    named = f"λ = {low:.3g}" if low == high else f"λ from {low:.3g} to {high:.3g}"
    note(
        f"{estimator_name} without a penalty may have no minimum, so it was fitted with a tiny one, {named}, and the "
        f"certificate is of that problem; {'an alpha > 0' if has_alpha else 'a finite C'} is a penalty of your choice"
    )
