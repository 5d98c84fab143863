"""Settings of Newton's method: every number that decides something, with its unit and what happens on either side.

docs/internals/thresholds.md has the time with and without each trick.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The numbers that decide which rows a step sees, how γ decreases, and which duals prove a point."""

    # Subsamples: a run starts on a subsample where it has at least this many times fewer rows than the data; each is followed by
    # one at most this many times as large.
    subsample_saving: float = 4.0
    subsample_growth: float = 16.0
    # The smallest subsample, in rows and in rows per column. Fewer rows fit their own noise.
    subsample_rows: int = 2000
    subsample_rows_per_column: int = 24
    # A smooth loss starts on subsamples only from this many rows per column on; below, rare columns are fitted too well.
    smooth_rows_per_column: int = 1000
    # A subsample of m rows is solved to this many times (d/m)·P, about its sampling error: the gap along γ, and for a smooth loss
    # the Newton decrement of the last step.
    subsample_gap: float = 0.3
    subsample_decrement: float = 3.0

    # Working sets: part of the rows, rows per column at least, and the fewest rows of a problem that has one.
    working_set_part: float = 0.125
    working_set_rows_per_column: int = 4
    working_set_min_rows: int = 2000
    # A working set is solved to this part of the gap on all rows.
    working_set_gap: float = 0.02

    # γ is multiplied by this factor whenever the gradient's part of the gap is no larger than the smoothing's.
    gamma_decay: float = 0.1
    # The smallest γ, as a part of what a constant costs: the gap it leaves is far below any tol.
    smallest_gamma: float = 1e-14
    # A warm start begins at γ = this many times its gap: about four times the smoothing the gap is worth, because a start off the
    # path needs short steps at a smaller γ.
    warm_gamma: float = 32.0
    # Steps aim at this part of tol, so that the certificate confirms it in spite of rounding.
    part_of_tol: float = 0.5

    # Predicted duals of a step of order 2 (Newton) or 3 (with correction) leave a relative gap of about (decrement/P)^order; they
    # are computed where that is below this many times tol.
    prediction_reach: float = 30.0
    # The predicted gap is accepted without evaluating the point where it is at most this part of tol.
    prediction_part: float = 0.7
    # The third-order correction is used where it changes the slope of the step by at most these parts; beyond, the model is poor.
    correction_shortening: float = 0.3
    correction_lengthening: float = 1.0

    # A smooth loss with more columns and rows than this finds its steps by products with the Hessian.
    dense_side: int = 300
    # A truncated solve ends at this part of ‖gradient‖ at most, and earlier the smaller the gradient has become.
    loosest_solve: float = 0.5
    # Conjugate residuals end after this many products in any case.
    max_products: int = 500
    # Solves are preconditioned by a Hessian of this many sampled rows per column where this many Hessians are smaller than the data.
    preconditioner_rows_per_column: int = 8
    preconditioner_share: int = 50
    # A preconditioner is used again while solves take at most this many products.
    few_products: int = 2
    # After a solve of more than this many products the next preconditioner is made from this many times as many rows.
    many_products: int = 5
    preconditioner_growth: int = 4
