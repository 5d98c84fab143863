"""One Newton step under a smooth loss: with the third derivative, or alone where the duals it foretells prove its point."""

from __future__ import annotations

import numpy as np

from dualgap.problem import chunks, each
from dualgap.solvers.base import Vector
from dualgap.solvers.path import NEAR, Iterate, Terms, about_primal, newton_solver, searched
from dualgap.solvers.pieces import Piece
from dualgap.threads import mapped

# The third derivative corrects a step where it shortens its slope by at most this part, or lengthens it by this.
SHORTENED, LENGTHENED = 0.3, 1.0
# From where no row has a third derivative, as at w = 0, bends only fall: a step is too short, mostly by half.
FROM_ZERO = 2.0
# A step is taken at its word where the gap it foretells is at most this part of what is wanted; less where the third
# derivative alone says how large that gap is.
PLAIN, BENT = 0.15, 0.7


def smooth_step(piece: Piece, terms: Terms, it: Iterate, tol: float = 0.0, most: float = 0.0) -> Iterate:
    """The iterate after one Newton step; only weights and duals of it where they leave a relative gap below `tol`.

    P is `most` at most.
    """
    solve = newton_solver(piece, terms, it)
    direction, shift = solve(it.gradient, it.gradient_intercept)
    slope = float(it.gradient @ direction) + it.gradient_intercept * shift
    jerk = _jerk(piece, terms, it)
    if jerk is None:
        return searched(piece, terms, it, direction, shift, slope)
    if it.decrement == np.inf and not (jerk[0] or jerk.any()):
        return searched(piece, terms, it, direction, shift, slope, length=FROM_ZERO)
    if slope * slope > tol * most * most:
        along, bent = _bends_along(piece, direction, shift, jerk)
    else:
        along = piece.rows.scores(direction)
        if shift:
            along += shift
        duals, left = _foretold(piece, terms, it, along, jerk)
        if left < np.inf and left <= PLAIN * tol * about_primal(piece, terms, it):
            return _proving(it, direction, shift, slope, duals, left)
        bent = piece.rows.combination(piece.shares * jerk)
    # Chebyshev's step: it costs two passes more and no matrix, and the duals it foretells are as much better.
    mend, mend_shift = solve(bent, float(piece.shares @ jerk) if terms.intercept else 0.0)
    of_mend = float(it.gradient @ mend) + it.gradient_intercept * mend_shift
    if not LENGTHENED * slope <= of_mend <= -SHORTENED * slope:
        return searched(piece, terms, it, direction, shift, slope, along)
    along += piece.rows.scores(mend)
    if mend_shift:
        along += mend_shift
    direction, shift, slope = direction + mend, shift + mend_shift, slope + of_mend
    if tol and -slope > np.cbrt(NEAR * tol) * most:
        return searched(piece, terms, it, direction, shift, slope, along)
    left = _foretold_bent(piece, terms, it, along, jerk)
    if left < np.inf and left <= BENT * tol * about_primal(piece, terms, it):
        return _proving(it, direction, shift, slope, jerk, left)
    return searched(piece, terms, it, direction, shift, slope, along)._replace(foretold=jerk)


def _proving(it: Iterate, direction: Vector, shift: float, slope: float, duals: Vector, left: float) -> Iterate:
    """The iterate after a whole step whose foretold duals prove it: w(α) is the new point."""
    weights, intercept = it.weights + direction, it.intercept + shift
    return it._replace(weights=weights, intercept=intercept, duals=duals, decrement=-slope, left=left)


def _jerk(piece: Piece, terms: Terms, it: Iterate) -> Vector | None:
    """φ‴ for each row; None where the loss has none."""

    loss, labels, count = terms.loss, piece.labels, it.duals.size
    if len(chunks(count)) == 1 or loss.jerk(it.duals[:1], it.bends[:1], labels[:1]) is None:
        return loss.jerk(it.duals, it.bends, labels)
    return each(count, lambda c: np.asarray(loss.jerk(it.duals[c], it.bends[c], labels[c])))


def _bends_along(piece: Piece, direction: Vector, shift: float, jerk: Vector) -> tuple[Vector, Vector]:
    """How far the scores move along a step, and Xᵀ of the shares of ½ φ‴ along² , which jerk becomes in place."""

    def half_third(rows: slice, along: Vector) -> Vector:
        if shift:
            along += shift
        own = jerk[rows]
        _halve_third(own, along)
        return piece.shares[rows] * own

    return piece.rows.through(direction, half_third)


def _halve_third(jerk: Vector, along: Vector) -> None:
    """In place: φ‴ becomes ½ φ‴ along²."""
    for factor in (along, along, 0.5):
        jerk *= factor


def _foretold(piece: Piece, terms: Terms, it: Iterate, along: Vector, jerk: Vector) -> tuple[Vector, float]:
    """The duals that a plain step foretells, and about the gap they leave; infinite where one is outside its domain.

    In place: jerk becomes ½ φ‴ along², which is about how far they are from the duals of the new scores.
    """
    duals = np.empty(jerk.size)

    def left(c: slice) -> float:
        _halve_third(jerk[c], along[c])
        np.multiply(it.bends[c], along[c], out=duals[c])
        np.subtract(it.duals[c], duals[c], out=duals[c])
        return _gap(piece, jerk[c], it.bends[c], c) if _are_inside(piece, terms, duals[c], c) else np.inf

    return duals, sum(mapped(left, chunks(jerk.size)))


def _foretold_bent(piece: Piece, terms: Terms, it: Iterate, along: Vector, jerk: Vector) -> float:
    """In place: jerk, ½ φ‴ along² of the plain step, becomes the duals that a bent one foretells. About the gap they leave."""

    def left(c: slice) -> float:
        jerk[c] = it.duals[c] - it.bends[c] * along[c] - jerk[c]
        if not _are_inside(piece, terms, jerk[c], c):
            return np.inf
        own, bends = terms.loss.slopes(it.scores[c] + it.intercept + along[c], piece.labels[c])
        return _gap(piece, jerk[c] - own, bends, c)

    return sum(mapped(left, chunks(jerk.size)))


def _are_inside(piece: Piece, terms: Terms, duals: Vector, c: slice) -> bool:
    """Whether some duals are inside their domain; rows without weight have no say."""
    labels = piece.labels[c]
    return terms.loss.holds(duals, labels) or piece.mean(np.abs(terms.loss.clip(duals, labels) - duals), c) == 0.0


def _gap(piece: Piece, off: Vector, bends: Vector, c: slice) -> float:
    """About what duals add to the gap that are `off` from those of their scores."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return 0.5 * piece.mean(off * off / bends, c)
