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
    """All rows are at least 4 times the first subsample; steps on half of the rows cost as much as they save."""
    subsample_rows_per_column: int = 24
    """The fewest rows of a subsample, per column: with fewer the subsample is separable and its solution far from that of all rows."""
    subsample_growth: int = 16
    """The ratio of a subsample's rows to those of the one before, at most; from a larger ratio on, steps on the larger one are wasted."""
    many_rows_per_column: int = 1000
    """A smooth loss starts on subsamples from 1,000 rows per column on; with fewer, a subsample fits rare columns too closely. From as
    many dense rows on `auto` takes Newton for a loss with kinks: most steps read a subsample or a working set."""
    subsample_gap: float = 0.3
    """Leave a subsample of m rows once the gap, or the squared Newton decrement, is below 0.3·(d/m)·P: more accuracy fits its sampling error."""

    working_set_part: float = 0.125
    """The smallest working set, as a fraction of the rows; a smaller set has to be selected anew too soon."""
    working_set_gap: float = 0.02
    """A working set is solved to 0.02 times the gap on all rows; more accuracy is lost when the other rows are evaluated."""

    gamma_decay: float = 0.1
    """γ is multiplied by this factor once the gradient's part of the gap is no larger than the smoothing's."""
    smallest_gamma: float = 1e-14
    """The smallest γ, divided by the baseline: below, kink − z has no digit left, and the gap it leaves is far below tol."""
    warm_gamma: float = 32.0
    """A warm start begins at γ = 32·gap/lipschitz²; at 2·gap/lipschitz² a start off the path needs more short steps than a cold one."""

    dense_side: int = 300
    """The largest side, columns or rows, of a Hessian that is factored for a smooth loss; beyond, steps come from products with it."""
    largest_side: int = 1500
    """The largest side, columns or rows, of a matrix that is quick to make and to factor: `auto`, rounds and the softmax model go by it."""
    max_products: int = 500
    """The most products with the Hessian for one step."""
    preconditioner_rows_per_column: int = 8
    """Sampled rows per column of a Hessian that preconditions, of the softmax model's classes too; with 2, solves take more products than the smaller sample saves."""
    preconditioner_sizes: int = 50
    """Precondition where the data has at least 50·d² stored values; on less data the preconditioner costs more than it saves."""


SETTINGS = Settings()
