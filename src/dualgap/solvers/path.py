"""The path of smoothed losses: one Newton step on a piece of the rows, along γ where the loss has a kink.

With φ_γ the loss smoothed by γ (φ itself where it is smooth) and q_i = s_i/S, on the rows of a piece

    F(w, b)  = Σ q_i φ_γ(z_i) + (λ/2) ‖w‖² − ⟨pull, w⟩ − pull_b·b
    gradient = λw − pull − Σ q_i α_i x_i ,   Hessian = λ·I + Σ q_i φ″_i x_i x_iᵀ ,   α = −φ_γ′(z)
    gap      = Σ q_i (φ(z_i) + φ*(−α_i) + α_i z_i) + ‖gradient‖²/(2λ)

When γ falls, a step first keeps the rows on the piece of φ_γ they are on: it is exact where none of them leaves it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from dualgap.losses import Loss
from dualgap.losses.base import QuadraticFamily
from dualgap.minimize import after, bracket
from dualgap.problem import chunks
from dualgap.rows import Rows
from dualgap.solvers.base import Vector
from dualgap.solvers.gram import weighted_gram
from dualgap.solvers.pieces import Piece
from dualgap.threads import mapped

# So many rows at least say about how large P is.
COUNTED = 1 << 11
# A step along a direction is long enough once the slope there is below this part of the slope at its start; sooner where
# the direction is a rough one, as along γ, or of a solve that was cut short.
SLOPE_LEFT, ROUGHLY = 0.1, 0.2
# So many lengths are tried at most.
TRIALS = 60
# What a step's foretold duals leave is about the cube of what it was to lower P by, both as parts of P; below so many times
# tol they are worth a look.
NEAR = 30.0

TINY = float(np.finfo(np.float64).tiny)

Solve = Callable[[Vector, float], tuple[Vector, float]]


class Iterate(NamedTuple):
    """A point, and what the rows of a piece say about it under the loss smoothed by γ (0 for a smooth loss)."""

    weights: Vector
    intercept: float
    gamma: float
    scores: Vector
    """⟨x, w⟩, without b."""
    duals: Vector
    bends: Vector
    """φ_γ″ for each row."""
    gradient: Vector
    gradient_intercept: float
    decrement: float = np.inf
    """−⟨gradient, step⟩ of the Newton step that led here, at its start; infinite where none did."""
    foretold: Vector | None = None
    """The duals that its model foretold for a whole step; None where they follow from the moves of the scores."""
    left: float | None = None
    """About the gap that a step left, where that is all one knows: weights and duals are right, the rest is as before it."""


class Terms(NamedTuple):
    """What does not change along a path: the loss, λ, and whether b is free."""

    loss: Loss
    strength: float
    intercept: bool

    @property
    def has_tube(self) -> bool:
        """Whether the loss is flat between two kinks."""
        return len(self.loss.kinks(np.zeros(1))) > 1

    def smoothed(self, gamma: float) -> Loss:
        return self.loss.smoothed(gamma) if gamma else self.loss


def evaluated(piece: Piece, terms: Terms, weights: Vector, intercept: float, scores: Vector, gamma: float) -> Iterate:
    """The iterate at a point whose scores are known."""
    duals, bends = _slopes(terms.smoothed(gamma), piece.labels, scores, intercept)
    return _closed(piece, terms, weights, intercept, gamma, scores, duals, bends)


def arrived(piece: Piece, terms: Terms, weights: Vector, intercept: float, gamma: float) -> Iterate:
    """The iterate at a point of which nothing is known, in one pass over the rows."""
    loss, count = terms.smoothed(gamma), piece.rows.count
    duals, bends = np.empty(count), np.empty(count)

    def slopes(rows: slice, scores: Vector) -> Vector:
        duals[rows], bends[rows] = _slopes(loss, piece.labels[rows], scores, intercept)
        return piece.shares[rows] * duals[rows]

    scores, combination = piece.rows.through(weights, slopes)
    return _summed(piece, terms, weights, intercept, gamma, scores, duals, bends, combination)


def _closed(
    piece: Piece, terms: Terms, weights: Vector, intercept: float, gamma: float, scores: Vector, duals: Vector,
    bends: Vector, combine: Callable[[Rows, Vector], Vector] = Rows.combination, decrement: float = np.inf,
) -> Iterate:  # fmt: skip
    combination = combine(piece.rows, piece.shares * duals)
    return _summed(piece, terms, weights, intercept, gamma, scores, duals, bends, combination, decrement)


def _summed(
    piece: Piece, terms: Terms, weights: Vector, intercept: float, gamma: float, scores: Vector, duals: Vector,
    bends: Vector, combination: Vector, decrement: float = np.inf,
) -> Iterate:  # fmt: skip
    """The iterate, with the gradient that follows from Σ q_i α_i x_i."""
    gradient = terms.strength * weights - piece.pull - combination
    at_intercept = -piece.pull_intercept - piece.mean(duals) if terms.intercept else 0.0
    return Iterate(weights, intercept, gamma, scores, duals, bends, gradient, at_intercept, decrement)


def gap_parts(piece: Piece, terms: Terms, it: Iterate) -> tuple[float, float]:
    """The gap of the loss itself: what the rows add to it, and what the gradient adds."""
    of_gradient = float(it.gradient @ it.gradient) / (2.0 * terms.strength)
    if terms.intercept:
        # Duals that do not sum to zero are shrunk until they do, at about this price.
        of_gradient += abs(it.gradient_intercept) * (1.0 + abs(it.intercept))
    if not it.gamma:
        return 0.0, of_gradient
    loss = terms.loss

    def excess(c: slice) -> float:
        z, duals, labels = it.scores[c] + it.intercept, it.duals[c], piece.labels[c]
        return piece.mean(loss.value(z, labels) - loss.negative_conjugate(duals, labels) + duals * z, c)

    return max(sum(mapped(excess, chunks(it.duals.size))), 0.0), of_gradient


def _slopes(
    loss: Loss, labels: Vector, scores: Vector, intercept: float, t: float = 0.0, along: Vector | None = None
) -> tuple[Vector, Vector]:
    """−φ′ and φ″ at the scores plus b, moved by t along a direction; in chunks, so that temporaries stay small."""

    def at(c: slice) -> tuple[Vector, Vector]:
        z = scores[c] + intercept
        if along is not None:
            z += t * along[c]
        return loss.slopes(z, labels[c])

    parts = chunks(scores.size)
    if len(parts) == 1:
        return at(parts[0])
    duals, bends = np.empty(scores.size), np.empty(scores.size)

    def fill(c: slice) -> None:
        duals[c], bends[c] = at(c)

    for _ in mapped(fill, parts):
        pass
    return duals, bends


def about_primal(piece: Piece, terms: Terms, it: Iterate) -> float:
    """P on the rows of a sample, or on all; of many rows some stand for all, because a step is no judge."""
    stride = max(1, it.scores.size // COUNTED)
    some = slice(None, None, stride)
    values = terms.loss.value(it.scores[some] + it.intercept, piece.labels[some])
    counted = float(piece.shares[some].sum()) if stride > 1 else 1.0
    return piece.mean(values, some) / (counted or 1.0) + 0.5 * terms.strength * float(it.weights @ it.weights)


def stepped(piece: Piece, terms: Terms, it: Iterate, gamma: float) -> Iterate:
    """The iterate after one Newton step at γ, which may be smaller than the iterate's own."""
    if gamma != it.gamma:
        kept = _at_smaller(piece, terms, it, gamma)
        forward = _along_path(piece, terms, kept)
        if forward is not None:
            return forward
        duals = terms.loss.clip(kept.duals, piece.labels)
        bends = np.where(duals == kept.duals, kept.bends, 0.0)
        it = _closed(piece, terms, it.weights, it.intercept, gamma, it.scores, duals, bends)
    direction, shift = newton_direction(piece, terms, it)
    slope = float(it.gradient @ direction) + it.gradient_intercept * shift
    return searched(piece, terms, it, direction, shift, slope)


def _at_smaller(piece: Piece, terms: Terms, it: Iterate, gamma: float) -> Iterate:
    """The iterate at a smaller γ with every row on the piece of φ_γ it is on, so that duals may leave their domain.

    A curved row's dual is its distance from the kink over γ. It is carried along and not computed again from the score: in
    that difference nothing would be left of a distance as small as γ.
    """
    stretch = it.gamma / gamma
    duals = np.where(it.bends > 0.0, it.duals * stretch, it.duals)
    return _closed(piece, terms, it.weights, it.intercept, gamma, it.scores, duals, it.bends * stretch)


def _along_path(piece: Piece, terms: Terms, kept: Iterate) -> Iterate | None:
    """A step that is exact where every row stays on its piece of φ_γ; None where that leads uphill."""
    direction, shift = newton_direction(piece, terms, kept)
    along = piece.rows.scores(direction) + shift
    actual = terms.loss.clip(kept.duals, piece.labels)
    pull = float(piece.pull @ direction) + piece.pull_intercept * shift
    slope = terms.strength * float(kept.weights @ direction) - pull - piece.dot(actual, along)
    if not slope < 0.0:
        return None
    return searched(piece, terms, kept, direction, shift, slope, along)


def newton_direction(piece: Piece, terms: Terms, it: Iterate) -> tuple[Vector, float]:
    """The Newton step in the weights and in the intercept."""
    return newton_solver(piece, terms, it)(it.gradient, it.gradient_intercept)


def newton_solver(piece: Piece, terms: Terms, it: Iterate) -> Solve:
    """What makes a step of a gradient and its part at the intercept, which is one more column that nothing penalizes."""
    factors = piece.shares * it.bends
    hessian = weighted_gram(piece.rows, factors)
    diagonal(hessian)[:] += terms.strength
    total = float(factors.sum()) if terms.intercept else 0.0
    if total == 0.0:
        # Without a curved row nothing says how far b should go, but its slope says where.
        plain = factored(hessian)
        return lambda gradient, at_intercept: (-plain(gradient), -at_intercept / terms.strength)
    cross = piece.rows.combination(factors)
    bordered = factored(np.block([[hessian, cross[:, None]], [cross, total]]))

    def solve(gradient: Vector, at_intercept: float) -> tuple[Vector, float]:
        step = -bordered(np.append(gradient, at_intercept))
        return step[:-1], float(step[-1])

    return solve


def searched(
    piece: Piece, terms: Terms, it: Iterate, direction: Vector, shift: float, slope: float, along: Vector | None = None,
    known: tuple[NDArray[Any], Vector] | None = None, combine: Callable[[Rows, Vector], Vector] = Rows.combination,
    length: float = 1.0, is_rough: bool = False,
) -> Iterate:  # fmt: skip
    """The iterate at the t > 0 that about minimizes F along a direction, on stored scores; `slope` is that at t = 0.

    `length` is tried first; `is_rough` says that the direction is not worth many trials. `known` are rows whose duals at
    t = 1 are known already; `combine` makes Xᵀ c.
    """
    if along is None:
        along = piece.rows.scores(direction)
        if shift:
            along += shift
    loss, labels, strength = terms.smoothed(it.gamma), piece.labels, terms.strength
    first = strength * float(it.weights @ direction) - float(piece.pull @ direction) - piece.pull_intercept * shift
    second = strength * float(direction @ direction)
    t, known_slopes, is_smooth = length, bracket(slope), not isinstance(loss, QuadraticFamily)
    enough = (ROUGHLY if it.gamma or is_rough else SLOPE_LEFT) * abs(slope)
    curved = np.flatnonzero(it.bends) if it.gamma and known is None else None
    has_tube = curved is not None and terms.has_tube
    for trial in range(TRIALS):
        duals, bends = _slopes(loss, labels, it.scores, it.intercept, t, along)
        if curved is not None:
            _carry(terms, piece, it, t, along, curved, duals, bends, has_tube)
        here = first + t * second - piece.dot(along, duals)
        if abs(here) <= enough:
            break
        known_slopes, following = after(known_slopes, t, here, second + piece.dot(along * along, bends), is_smooth)
        if isnan(following) or trial + 1 == TRIALS:
            break
        t = following
    if known is not None and t == 1.0:
        duals[known[0]] = known[1]
    scores = it.scores + t * (along - shift if shift else along)
    weights, intercept = it.weights + t * direction, it.intercept + t * shift
    return _closed(piece, terms, weights, intercept, it.gamma, scores, duals, bends, combine, -slope)


def _carry(
    terms: Terms, piece: Piece, it: Iterate, t: float, along: Vector, curved: NDArray[Any], duals: Vector, bends: Vector,
    has_tube: bool,
) -> None:  # fmt: skip
    """In place: duals and bends of rows that were curved at t = 0, from their duals there and not from their scores."""
    own, bend = it.duals[curved], it.bends[curved]
    reached = own - bend * (t * along[curved])
    if has_tube:
        # Across a tube's flat middle lies another curved piece, which the score tells.
        same = own * reached > 0.0
        curved, bend, reached = curved[same], bend[same], reached[same]
    inside = terms.loss.clip(reached, piece.labels[curved])
    duals[curved], bends[curved] = inside, np.where(inside == reached, bend, 0.0)


def between(
    everything: Piece, terms: Terms, old: Iterate, new: Iterate, scores: Vector, picked: NDArray[Any] | None
) -> Iterate:
    """The best point on the way from an iterate on all rows to one found on the picked ones, at the latter's γ."""
    direction, shift = new.weights - old.weights, new.intercept - old.intercept
    along = scores - old.scores
    if shift:
        along += shift
    duals, bends = _slopes(terms.smoothed(new.gamma), everything.labels, old.scores, old.intercept)
    start = old._replace(gamma=new.gamma, duals=duals, bends=bends)
    slope = terms.strength * float(old.weights @ direction) - everything.dot(duals, along)
    # At the new point itself the picked rows' duals are known without cancellation.
    known = None if picked is None else (picked, new.duals)
    return searched(everything, terms, start, direction, shift, min(slope, 0.0), along, known)


def solved(matrix: NDArray[Any], right: Vector) -> Vector:
    """matrix⁻¹·right for a positive definite matrix."""
    return factored(matrix)(right)


def diagonal(matrix: NDArray[Any]) -> Vector:
    """The numbers on the diagonal of a matrix, which can be written to."""
    return matrix.ravel(order="K")[:: matrix.shape[0] + 1]


def factored(matrix: NDArray[Any]) -> Callable[[Vector], Vector]:
    """Multiplication by the inverse of a positive definite matrix, scaled to unit diagonal; jitter where rounding spoils that."""
    scale = 1.0 / np.sqrt(np.maximum(diagonal(matrix), TINY))
    matrix = matrix * scale
    matrix *= scale[:, None]
    jitter = 0.0
    while True:
        factor, failed = dpotrf(matrix, lower=1, clean=0)
        if not failed:
            return lambda right: np.asarray(scale * dpotrs(factor, scale * right, lower=1)[0])
        more = max(10.0 * jitter, 1e-15)
        diagonal(matrix)[:] += more - jitter
        jitter = more
