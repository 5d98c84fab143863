"""Duals that a Newton step on a smooth loss foretold: they prove the new point before its own duals can."""

from __future__ import annotations

import numpy as np

from dualgap.solvers.base import Vector
from dualgap.solvers.path import Iterate, Terms, gap_parts
from dualgap.solvers.pieces import Piece


def foretold(piece: Piece, terms: Terms, before: Iterate, after: Iterate) -> tuple[Vector, float]:
    """Better duals after a Newton step than the point's own, and about the gap they leave.

    The point's own leave ‖gradient‖²/(2λ), because w is not w(α). The duals that the step's model foretold do not: after a
    whole step w(α) is the new point, and what the rows add is of fourth order in their moves. Both parts are squares of
    distances, so the best mixture of the two is known.
    """
    own = sum(gap_parts(piece, terms, after))
    moves = after.scores - before.scores
    if terms.intercept:
        moves += after.intercept - before.intercept
    duals = before.duals - before.bends * moves
    off = np.where(terms.loss.clip(duals, piece.labels) == duals, duals - after.duals, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_rows = float(piece.shares @ (off * off / after.bends))
    if not np.isfinite(of_rows):
        return after.duals, own
    weighted = piece.shares * off
    mended = piece.rows.combination(weighted)
    steep = float(mended @ mended) + 2.0 * terms.strength * of_rows
    if not steep > 0.0:
        return after.duals, own
    share = min(max(float(after.gradient @ mended) / steep, 0.0), 1.0)
    at_intercept = after.gradient_intercept - share * float(weighted.sum()) if terms.intercept else 0.0
    mixed = after._replace(gradient=after.gradient - share * mended, gradient_intercept=at_intercept)
    gap = share * share * of_rows + sum(gap_parts(piece, terms, mixed))
    return (after.duals + share * off, gap) if gap < own else (after.duals, own)
