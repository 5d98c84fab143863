"""One truncated Newton step on all rows: its direction by conjugate residuals, for smooth losses with many columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dualgap.problem import Problem
from dualgap.solvers import conjugate
from dualgap.solvers.base import Vector
from dualgap.solvers.path import Iterate, Terms, searched
from dualgap.solvers.pieces import Piece

# A matrix made from so many rows a column steers the solve, where so many of its size would fit into the data. It steers the
# next ones too while they take as few products as this; where one took many, the next matrix is made from more rows. One
# made from all of them costs as much as many products, and steers while solves take no more than that.
MATRICES, ROWS_A_COLUMN = 50, 8
FEW_PRODUCTS, MANY_PRODUCTS, MORE_ROWS = 2, 5, 4
MOST_PRODUCTS = 500


class Truncation(NamedTuple):
    """How a run of truncated steps is going."""

    first: float
    """‖gradient‖ where it began; 0 before the first step."""
    rows: int
    """How many rows steer a solve; 0 for none."""
    steer: conjugate.Operator | None = None
    """What steered the last solve, where it still may steer the next."""
    left: float = np.inf
    """The gap that a residual like the last solve's makes."""


def begun(problem: Problem) -> Truncation:
    """The state before the first step."""
    rows, wanted = problem.rows, ROWS_A_COLUMN * problem.rows.dimension
    steered = MATRICES * rows.dimension**2 <= rows.stored and rows.count >= wanted
    return Truncation(0.0, wanted if steered else 0)


def compiled(problem: Problem) -> None:
    """Compile what a step calls, by taking one over no rows."""
    rows, nothing = problem.rows, np.zeros(problem.rows.count)
    conjugate.compile_for(rows, nothing)


def stepped(piece: Piece, terms: Terms, it: Iterate, going: Truncation, wanted: float) -> tuple[Iterate, Truncation]:
    """The iterate after one step; a solve need not go below a ‖residual‖ of `wanted`."""
    gradient: Vector = np.append(it.gradient, it.gradient_intercept) if terms.intercept else it.gradient
    norm = float(np.linalg.norm(gradient))
    if norm == 0.0:
        return it, going
    going = going if going.first else going._replace(first=norm)
    bends = piece.shares * it.bends
    steer = going.steer
    if going.rows and steer is None:
        steer = conjugate.sample_preconditioner(piece.rows, bends, terms.strength, going.rows, terms.intercept)
    target = conjugate.forcing(norm, going.first, wanted)
    found = conjugate.direction(
        piece.rows, bends, terms.strength, gradient, target, MOST_PRODUCTS, terms.intercept, steer
    )
    few = FEW_PRODUCTS if going.rows < piece.rows.count else MANY_PRODUCTS
    left = found.residual**2 / (2.0 * terms.strength)
    going = going._replace(steer=steer if found.products <= few else None, left=left)
    if found.products > MANY_PRODUCTS:
        going = going._replace(rows=min(MORE_ROWS * going.rows, piece.rows.count))
    step, shift = (found.step[:-1], float(found.step[-1])) if terms.intercept else (found.step, 0.0)
    slope = float(gradient @ found.step)
    it = searched(piece, terms, it, step, shift, slope, found.moves, combine=conjugate.combination, is_rough=True)
    return it, going
