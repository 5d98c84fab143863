"""Settings of rounds over row blocks: every number that decides how they go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class RoundSettings(NamedTuple):
    """The numbers that decide how the rounds go."""

    dense_columns: int = 2000
    """More columns than this take Hessian products, a round each, in place of a matrix of d² numbers a round."""
    softmax_side: int = 300
    """The same for the softmax model's classes × (columns + 1): a matrix of this side takes about the time of 100 products."""
    max_products: int = 200
    """Rounds of products for one step at most."""
    preconditioner_columns: int = 5000
    """Up to this many columns the Hessian of the sample preconditions products; its factor takes d³/3 operations and 8d² bytes."""
    sample_gap: float = 0.1
    """The sample is solved to this part of d/m: more accuracy fits its sampling error."""
    first_curved: float = 20.0
    """γ begins where about this many times as many rows are on a curved segment as there are columns: with few, a step that keeps rows
    on their segments leads far astray."""
    gamma_decay: float = 0.35
    """γ is multiplied by this factor once the gradient's part of the gap is no larger than the smoothing's."""
    smallest_gamma: float = 1e-14
    """The smallest γ, as a part of what a constant costs."""
    accepted_slope: float = 0.6
    """A whole step is taken where the slope at its end is below this part of the decrement; otherwise a round looks for its size."""
    pair_noise: float = 1e-9
    """The last steps become part of the point they started from where their rounding could move a dual by more than this."""
    first_round_seconds: float = 10.0
    """Nothing is certified before the first round ends: it may take as many seconds beyond max_seconds, then the run fails."""
    max_idle: int = 25
    """Rounds without a gap smaller by 10 % after which float64 is taken to have no more to give."""


SETTINGS = RoundSettings()
# Step sizes that a probe looks at. They crowd towards zero, where a step under an exponential loss may have to end.
PROBED = np.array([0.0, 1 / 256, 1 / 64, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4])
