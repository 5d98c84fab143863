"""Duals that a Newton step on a smooth loss foretold: they prove the new point before its own duals can."""

from __future__ import annotations

import numpy as np

from dualgap.problem import chunks
from dualgap.solvers.base import Vector
from dualgap.solvers.path import Iterate, Terms, gap_parts
from dualgap.solvers.pieces import Piece
from dualgap.threads import mapped


def foretold(piece: Piece, terms: Terms, before: Iterate, after: Iterate) -> tuple[Vector, float]:
    """Better duals after a Newton step than the point's own, and about the gap they leave.

    The point's own leave ‖gradient‖²/(2λ), because w is not w(α). The duals that the step's model foretold do not: after a
    whole step w(α) is the new point, and what the rows add is of fourth order in their moves. Both parts are squares of
    distances, so the best mixture of the two is known.
    """
    own = sum(gap_parts(piece, terms, after))
    off, of_rows = _distances(piece, terms, before, after)
    if not np.isfinite(of_rows):
        return after.duals, own
    weighted = piece.shares * off
    mended, at_sum = piece.rows.combination(weighted), float(weighted.sum())
    del weighted
    steep = float(mended @ mended) + 2.0 * terms.strength * of_rows
    if not steep > 0.0:
        return after.duals, own
    share = min(max(float(after.gradient @ mended) / steep, 0.0), 1.0)
    at_intercept = after.gradient_intercept - share * at_sum if terms.intercept else 0.0
    mixed = after._replace(gradient=after.gradient - share * mended, gradient_intercept=at_intercept)
    gap = share * share * of_rows + sum(gap_parts(piece, terms, mixed))
    if not gap < own:
        return after.duals, own
    off *= share
    off += after.duals
    return off, gap


def _distances(piece: Piece, terms: Terms, before: Iterate, after: Iterate) -> tuple[Vector, float]:
    """How far the foretold duals are from the point's own, and what that adds to the gap of the rows, at most about.

    One outside its domain is moved to its edge. Chunk by chunk, because a vector is large beside narrow rows.
    """
    off, shift = np.empty(after.duals.size), after.intercept - before.intercept

    def costs_of(c: slice) -> float:
        if after.foretold is not None:
            duals = after.foretold[c]
        else:
            duals = before.duals[c] - before.bends[c] * (after.scores[c] - before.scores[c] + shift)
        labels = piece.labels[c]
        inside = terms.loss.clip(duals, labels)
        off[c] = inside - after.duals[c]
        with np.errstate(divide="ignore", invalid="ignore"):
            costs = off[c] * off[c] / after.bends[c]
        edge = np.flatnonzero(inside != duals)
        if edge.size:
            # There the conjugate bends more than at the point, so a square says too little.
            at, own, z = inside[edge], labels[edge], after.scores[c][edge] + after.intercept
            costs[edge] = 2.0 * (terms.loss.value(z, own) - terms.loss.negative_conjugate(at, own) + at * z)
        return piece.mean(costs, c)

    return off, sum(mapped(costs_of, chunks(off.size)))
