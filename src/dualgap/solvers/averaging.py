"""The mean of a solver's iterates over updates, without touching a whole vector at each of them.

An iterate is x_t = c_t·v_t with a scale c_t, which is 1 where a solver has none. An update that adds Δ to v_i changes the later
iterates and none before, so with C = Σ c_t over the updates so far

    Σ_t c_t v_t = total + C·v − corrections ,   corrections_i = Σ (C before the update)·Δ_i .

A kernel adds C·Δ to `corrections` where it adds Δ to v. Where it multiplies the scale into v, it moves the sum so far to `total`
and C restarts at zero. A solver whose update changes the whole vector adds each iterate to `total`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

SCALARS = np.dtype((np.record, [("updates", np.float64), ("scale_sum", np.float64), ("offset_sum", np.float64)]))


class RunningSum(NamedTuple):
    """Σ_t c_t v_t, in the two parts of the formula above."""

    corrections: Vector
    total: Vector

    def of(self, vector: Vector, scale_sum: float) -> Vector:
        """The sum, where v is `vector` now and C is `scale_sum`."""
        return self.total + (scale_sum * vector - self.corrections)


class Average(NamedTuple):
    """Sums of the iterates since averaging began."""

    weights: RunningSum
    duals: RunningSum
    scalars: Any
    """A record: `updates` is the number of iterates, `scale_sum` is C, `offset_sum` the sum of a scalar that a solver's weights contain."""

    @staticmethod
    def begin(weights_shape: tuple[int, ...], duals_shape: tuple[int, ...]) -> Average:
        """No iterate summed yet, of weights and duals in the given shapes."""
        weights, duals = (RunningSum(np.zeros(shape), np.zeros(shape)) for shape in (weights_shape, duals_shape))
        return Average(weights, duals, np.zeros((), SCALARS)[()])

    def add(self, weights: Vector, duals: Vector) -> None:
        """Sum one more iterate, given whole."""
        np.add(self.weights.total, weights, out=self.weights.total)
        np.add(self.duals.total, duals, out=self.duals.total)
        self.scalars.updates += 1.0
