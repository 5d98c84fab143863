"""Settings of rounds over row blocks: every number that decides how they go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.solvers.newton.settings import SETTINGS as NEWTON


@dataclass(frozen=True)
class RoundSettings:
    """The numbers that decide how the rounds go."""

    dense_columns: int = NEWTON.largest_side
    """The most columns for which a round returns a matrix of d² numbers; with more, a step takes several rounds of Hessian products."""
    softmax_side: int = NEWTON.dense_side
    """The largest side, classes × (columns + 1), of the softmax model's matrix: it takes about the time of 100 products."""
    max_products: int = NEWTON.max_products
    """The most rounds of products for one step."""
    preconditioner_columns: int = 5000
    """The most columns for which the sample's Hessian preconditions the products; its factor takes d³/3 operations and 8d² bytes."""
    sample_gap: float = NEWTON.subsample_gap
    """The sample is solved to a relative gap of 0.3·d/m, m its rows: more accuracy would fit its sampling error."""
    first_curved: float = 20.0
    """Rows on a curved segment, per column, at the first γ: with few, a step that keeps rows on their segments leads far astray."""
    gamma_decay: float = 0.35
    """γ is multiplied by this factor once the gradient's part of the gap is no larger than the smoothing's."""
    accepted_slope: float = 0.6
    """A whole step is taken where the slope at its end is below 0.6 times the decrement; otherwise a round evaluates step sizes."""
    first_round_seconds: float = 10.0
    """Nothing is certified before the first round ends: it may take as many seconds beyond max_seconds, then the run fails."""
    halvings: int = 8
    """The smallest step size of a probe is 2⁻⁸."""
    max_idle: int = 25
    """Rounds without a smaller gap after which float64 is taken to have no more to give."""


SETTINGS = RoundSettings()
# Step sizes of a probe: 0 and 1/256, 1/128, …, 1/2. They crowd towards zero, where a step under an exponential loss may have to end.
PROBED = np.append(0.0, 0.5 ** np.arange(SETTINGS.halvings, 0, -1))
