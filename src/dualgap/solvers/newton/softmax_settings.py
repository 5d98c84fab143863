"""Settings of Newton's method for the softmax model: every number that decides something, with its unit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SoftmaxSettings:
    """The numbers that decide how a Newton step of the softmax model is found, and how exactly."""

    # The side of the Hessian is classes × (columns + 1 with intercepts). Up to 100 it is factored for every step. Up to 1,100 it is
    # factored once conjugate residuals needed more than 60 products, because a factor costs time proportional to rows × side². A
    # larger Hessian is never made.
    always_factored_side: int = 100
    largest_factored_side: int = 1100
    products_before_factor: int = 60
    # The most products for a step with a larger Hessian; a solve that ends there still gives a step that decreases P.
    max_products: int = 250

    # A solve ends at a residual of 0.15·‖gradient‖, or of what leaves half of tol if that is larger; a smaller one takes more products.
    loosest_solve: float = 0.15

    # The most columns for which the preconditioner inverts each class's block of the Hessian; with more it is the diagonal.
    block_columns: int = 1500
    # The blocks are sums over 8 sampled rows per column, or over as many rows as take 16 times the multiplications of a product, if those
    # are more.
    sampled_rows_per_column: int = 8
    # Of a block from a sample of m rows, 1e-3·(d/m)·(mean diagonal) is added to the diagonal: a small sample misses directions that the
    # rows have.
    damping: float = 1e-3


SETTINGS = SoftmaxSettings()
