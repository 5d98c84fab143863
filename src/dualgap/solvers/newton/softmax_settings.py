"""Settings of Newton's method for the softmax model: every number that decides something, with its unit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SoftmaxSettings:
    """The numbers that decide how a Newton step of the softmax model is found, and how exactly."""

    # The side of the Hessian is classes × (columns + 1 with intercepts). Up to the first number it is factored for every step. Up to the
    # second it is factored once conjugate residuals needed more than `products_before_factor` products, because a factor costs time
    # proportional to rows × side². Above the second it is never made.
    always_factored_side: int = 100
    largest_factored_side: int = 1100
    products_before_factor: int = 60
    # A larger Hessian's solve ends after this many products in any case; the step it found decreases P all the same.
    max_products: int = 250

    # A solve ends at this part of ‖gradient‖, or where the residual is worth half of tol; a smaller residual takes more products.
    loosest_solve: float = 0.15

    # The preconditioner inverts each class's block of the Hessian up to this many columns; with more it is the diagonal.
    block_columns: int = 1500
    # The blocks are from this many rows per column at least, and from as many rows as cost no more than this many products with the Hessian.
    sampled_rows_per_column: int = 8
    # A block from a sample gets this part of its mean diagonal, times columns per row, more on its diagonal: a small sample misses
    # directions that the rows have.
    damping: float = 1e-3

    # A step size is accepted where the slope of P is at most this part of the slope at 0; a smaller part takes more trials for each step.
    slope_part: float = 0.3
    # A trial may increase P by this part of it, which rounding explains.
    primal_rounding: float = 1e-12


SETTINGS = SoftmaxSettings()
