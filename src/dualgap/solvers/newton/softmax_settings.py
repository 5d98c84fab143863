"""Settings of Newton's method for the softmax model: every number that decides something, with its unit."""

from __future__ import annotations

from dataclasses import dataclass

from dualgap.solvers.newton.settings import SETTINGS as NEWTON


@dataclass(frozen=True)
class SoftmaxSettings:
    """The numbers that decide how a Newton step of the softmax model is found, and how exactly."""

    # The side of the Hessian is classes × (columns + 1 with intercepts). Up to 100 it is factored for every step. Up to Newton's largest
    # side it is factored once conjugate residuals needed more than 60 products, because a factor costs time proportional to
    # rows × side². A larger Hessian is never made.
    always_factored_side: int = 100
    largest_factored_side: int = NEWTON.largest_side
    products_before_factor: int = 60
    # A solve ends at a residual of 0.15·‖gradient‖, or of what leaves half of tol if that is larger; a smaller one takes more products.
    loosest_solve: float = 0.15

    # The most columns for which the preconditioner inverts each class's block of the Hessian; with more it is the diagonal.
    block_columns: int = NEWTON.largest_side
    # Of a block from a sample of m rows, 1e-3·(d/m)·(mean diagonal) is added to the diagonal: a small sample misses directions that the
    # rows have.
    damping: float = 1e-3


SETTINGS = SoftmaxSettings()
