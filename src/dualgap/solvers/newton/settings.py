"""Settings of Newton's method: every number that decides something, with what happens on either side.

docs/internals/thresholds.md has the time with and without each trick.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The numbers that decide which rows a step reads, how γ decreases, and how a direction is found."""

    few_rows: int = 2000
    """The fewest rows of a subsample, and of a problem that has working sets: with fewer rows a step costs less than a selection."""
    subsample_saving: float = 4.0
    """A run starts on a subsample of at least this many times fewer rows; from half of the rows its steps are lost."""
    subsample_rows_per_column: int = 24
    """The fewest rows of a subsample for each column: with fewer rows the subsample is separable and its point far off."""
    subsample_growth: int = 16
    """A subsample is followed by one at most this many times as large; without the steps between, all rows pay for them."""
    smooth_rows_per_column: int = 1000
    """A smooth loss starts on subsamples from this many rows per column on; with fewer, rare columns are fitted too well."""
    subsample_gap: float = 0.3
    """Leave a subsample of m rows at a gap, or squared Newton decrement, of this many times (d/m)·P, about its sampling error."""

    working_set_part: float = 0.125
    """The smallest working set, as a part of the rows; with a smaller set the next selection is due too soon."""
    working_set_gap: float = 0.02
    """A working set is solved to this part of the gap on all rows; more accuracy is lost when the other rows are evaluated."""

    gamma_decay: float = 0.1
    """γ is multiplied by this factor once the gradient's part of the gap is no larger than the smoothing's."""
    smallest_gamma: float = 1e-14
    """The smallest γ, as a part of what a constant costs: below, kink − z has no digit left, and the gap it leaves is far below tol."""
    warm_gamma: float = 32.0
    """A warm start begins at γ = this many times its gap/lipschitz²; with 2, a start off the path needs more short steps than a cold one."""

    dense_side: int = 300
    """A smooth loss with more columns and more rows than this finds its steps by products with the Hessian."""
    max_products: int = 500
    """Conjugate residuals end after this many products in any case."""
    preconditioner_rows_per_column: int = 8
    """The preconditioner is the Hessian of this many sampled rows per column; with 2, solves take more products than it saves."""
    preconditioner_sizes: int = 50
    """There is a preconditioner where the data has at least this many times d² values; on less data it costs more than it saves."""
