"""Pieces: some rows of a problem with what the others add to the gradient, so that most Newton steps see few rows.

A row whose loss is a line near its score adds the same −α_i x_i to the gradient wherever the score moves on that line. So
a piece is the rows near a kink, and `pull` is (1/S) Σ s_i α_i x_i over the rest. A sample is a piece whose rows stand for all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.losses import Loss
from dualgap.problem import EVERY, Problem
from dualgap.rows import Rows
from dualgap.solvers.base import Vector

# A sample holds at least so many rows a column, and is followed by one so many times as large.
SAMPLED_ROWS, ENLARGED, OF_SMOOTH = 24, 16, 0.3
# A sample of a larger part of the rows costs more than it saves.
WORTH_SAMPLING = 4
# With fewer rows a column than this a smooth loss starts on all of them: a sample's point fits rare columns too well, and
# that takes more steps to mend than the sample saved.
SMOOTH_ROWS = 1000
# A piece holds at least so many rows and so many a column; rows sampled or left out must be worth the detour.
FEWEST, FEWEST_A_COLUMN = 256, 4
WORTHWHILE = 2000
# Sparse pieces up to so many bytes are made dense, because dense products of few columns are far quicker.
DENSE_BYTES = 1 << 25


class Piece(NamedTuple):
    """Rows, their labels and shares s_i/S, the part of the gradient that others make, and which rows these are."""

    rows: Rows
    labels: Vector
    shares: Vector
    pull: Vector
    pull_intercept: float
    picked: NDArray[Any] | None
    """Row numbers; None for all of them."""
    radius: float = np.inf
    """How far from a kink its rows may be."""

    def mean(self, values: Vector, rows: slice = EVERY) -> float:
        """Σ q_i v_i, over some rows."""
        shares = self.shares[rows]
        # One number that stands for all is no vector to BLAS.
        return float(shares @ values) if shares.strides[0] else float(values.sum()) * float(shares[0])

    def dot(self, values: Vector, others: Vector) -> float:
        """Σ q_i v_i u_i."""
        shares = self.shares
        return float((shares * values) @ others) if shares.strides[0] else float(values @ others) * float(shares[0])


def whole(problem: Problem) -> Piece:
    """All rows."""
    nothing = np.zeros(problem.rows.dimension)
    return Piece(problem.rows, problem.labels, _shares(problem, None), nothing, 0.0, None)


def samples(problem: Problem) -> list[int]:
    """The strides of growing samples to start on, the last smaller than all rows; empty where all rows are few."""
    count, stride = problem.rows.count, ENLARGED
    # A smooth loss forgives a rough start; on the way along γ it costs more to mend than it saved.
    if not problem.loss.has_kink and count < SMOOTH_ROWS * problem.rows.dimension:
        return []
    part = 1.0 if problem.loss.has_kink else OF_SMOOTH
    fewest = int(part * max(WORTHWHILE, SAMPLED_ROWS * problem.rows.dimension))
    strides: list[int] = []
    if count >= WORTH_SAMPLING * fewest and count < ENLARGED * fewest:
        return [count // fewest]
    while count // stride >= fewest:
        strides.append(stride)
        stride *= ENLARGED
    return strides[::-1]


def sample(problem: Problem, stride: int) -> Piece:
    """Every stride-th row, as if they were all."""
    picked = np.arange(stride // 2, problem.rows.count, stride)
    shares = _shares(problem, picked)
    total = float(shares.sum())
    nothing = np.zeros(problem.rows.dimension)
    return Piece(_gathered(problem.rows, picked), problem.labels[picked], shares / total, nothing, 0.0, picked)


def nearest(
    problem: Problem, scores: Vector, duals: Vector, curved: NDArray[np.bool_], combination: Vector, wanted: int
) -> Piece | None:
    """The curved rows and those nearest to a kink; None where they would be most of the rows.

    `combination` is (1/S) Σ s_i α_i x_i over all rows, from which theirs is taken away.
    """
    count = problem.rows.count
    wanted = max(wanted, FEWEST, FEWEST_A_COLUMN * problem.rows.dimension)
    if 3 * wanted >= count or count < WORTHWHILE:
        return None
    distances = _distances(problem.loss, scores, problem.labels)
    distances[curved] = 0.0
    picked = np.sort(np.argpartition(distances, wanted)[:wanted])
    rows, shares = _gathered(problem.rows, picked), _shares(problem, picked)
    own = shares * duals[picked]
    rest = problem.mean(duals) - float(own.sum())
    pull, radius = combination - rows.combination(own), float(distances[picked].max())
    return Piece(rows, problem.labels[picked], shares, pull, rest, picked, radius)


def _distances(loss: Loss, scores: Vector, labels: Vector) -> Vector:
    """How far each score is from the nearest kink."""
    kinks = loss.kinks(labels)
    out = np.abs(scores - kinks[0])
    for kink in kinks[1:]:
        np.minimum(out, np.abs(scores - kink), out=out)
    return out


def _shares(problem: Problem, picked: NDArray[Any] | None) -> Vector:
    """s_i/S: a common factor of all weights, however large, then changes no number."""
    count = problem.rows.count if picked is None else picked.size
    if problem.sample_weight is None:
        # One number, not one a row.
        shares: Vector = np.ndarray((count,), buffer=np.array([1.0 / problem.rows.count]), strides=(0,))
        shares.flags.writeable = False
        return shares
    weights = problem.sample_weight if picked is None else problem.sample_weight[picked]
    return weights / problem.total_weight


def _gathered(rows: Rows, picked: NDArray[Any]) -> Rows:
    part = rows.take(picked)
    return part.dense() if rows.is_sparse and 8 * part.count * part.dimension <= DENSE_BYTES else part
