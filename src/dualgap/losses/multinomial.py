"""The softmax loss of k classes and its entropy dual, as functions of rows of scores and of duals.

φ(z) = log Σ_j e^(z_j) − z_c for a row of class c;   its duals are α = e_c − p with p in the simplex, −φ*(−α) = H(p)

Everything is written in the differences z_j − z_c and in α, whose own entry is 1 − p_c: where a row is almost certain,
these are the small numbers, and they keep their digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Classes = NDArray[np.intp]


class Softmax(NamedTuple):
    """φ(z) for each row, and the duals −φ′(z) = e_c − p that the scores suggest."""

    values: Vector
    duals: Matrix


class Entropies(NamedTuple):
    """H(p) for each row, from the two parts that are needed along a ray tα."""

    missing: Vector
    """1 − p_c."""
    others: Vector
    """−Σ p_j ln p_j over the other classes."""

    def at(self, t: float) -> Vector:
        """−φ*(−tα) for each row."""
        scaled = t * self.missing
        own = -(1.0 - scaled) * _log_of_rest(scaled)
        return np.asarray(own + t * self.others - (scaled * np.log(t) if t > 0.0 else 0.0))

    def slope(self, t: float) -> Vector:
        """d/dt of −φ*(−tα) for each row, for t > 0."""
        return np.asarray(self.missing * (_log_of_rest(t * self.missing) - np.log(t)) + self.others)


def softmax(scores: Matrix, classes: Classes) -> Softmax:
    """The loss and the suggested duals at the given scores."""
    each = np.arange(classes.size)
    out = scores - scores[each, classes][:, None]
    highest = out.max(axis=1)  # at least 0, the own class's
    out -= highest[:, None]
    np.exp(out, out=out)
    own = out[each, classes].copy()
    out[each, classes] = 0.0
    others = out.sum(axis=1)
    total = own + others
    # Where the own class leads, own = 1 and log1p keeps the digits of a loss near zero.
    values = highest + np.where(highest == 0.0, np.log1p(others), np.log(total))
    out /= -total[:, None]
    out[each, classes] = others / total
    return Softmax(values, out)


def probabilities(duals: Matrix, classes: Classes) -> Matrix:
    """p = e_c − α for each row."""
    out = -duals
    out[np.arange(classes.size), classes] += 1.0
    return out


def entropies(duals: Matrix, classes: Classes) -> Entropies:
    """The parts of H(p) for feasible duals."""
    each = np.arange(classes.size)
    missing = duals[each, classes].copy()
    terms = np.maximum(-duals, 0.0)
    terms[each, classes] = 0.0
    logarithms = np.log(np.maximum(terms, np.finfo(np.float64).tiny))
    return Entropies(missing, -np.einsum("ij,ij->i", terms, logarithms))


def clipped(duals: Matrix, classes: Classes) -> Matrix:
    """Feasible duals near the given ones: the probabilities of the other classes at least 0, and together at most 1."""
    each = np.arange(classes.size)
    out = np.maximum(-duals, 0.0)
    out[each, classes] = 0.0
    total = out.sum(axis=1)
    out /= -np.maximum(total, 1.0)[:, None]
    out[each, classes] = np.minimum(total, 1.0)
    return out


class SoftmaxTerms(NamedTuple):
    """What a certificate sums over rows, at given scores and duals."""

    values: Vector
    """φ(z)."""
    entropies: Vector
    """H(p) = −φ*(−α)."""
    gaps: Vector
    """h = φ(z) − H(p) + ⟨α, z⟩ ≥ 0, computed within (k + 32)u·sizes."""
    sizes: Vector
    rates: Vector
    """‖α + φ′(z)‖₁, as computed."""
    duals: Vector
    """‖α‖₁."""
    ranges: Vector
    """The largest lead of the own class's score over another's; 0 where there is none."""


def terms(scores: Matrix, duals: Matrix, classes: Classes) -> SoftmaxTerms:
    """What a certificate sums over rows, for duals inside their domain; a row's own entry counts as minus the sum of the others."""
    each = np.arange(classes.size)
    values, suggested = softmax(scores, classes)
    parts = entropies(duals, classes)
    p = np.maximum(-duals, 0.0)
    p[each, classes] = 0.0
    missing = p.sum(axis=1)
    rest = _log_of_rest(missing)
    differences = scores - scores[each, classes][:, None]
    entropy = parts.others - (1.0 - missing) * rest
    crossed = np.einsum("ij,ij->i", p, differences)
    distances = np.abs(differences)
    rates = np.abs(duals - suggested).sum(axis=1)
    sizes = values + entropy + np.einsum("ij,ij->i", p, distances) + missing * (2.0 - rest)
    sizes += rates * distances.max(axis=1)
    gaps = np.maximum(values - entropy - crossed, 0.0)
    return SoftmaxTerms(
        values,
        entropy,
        gaps,
        sizes,
        rates,
        2.0 * missing,
        np.maximum(-differences.min(axis=1), 0.0),
    )


def keep_inside(duals: Matrix, classes: Classes) -> None:
    """In place: duals whose domain holds them exactly, as sums of floats, the own entry being minus the sum of the others."""
    each, rounding = np.arange(classes.size), 4.0 * duals.shape[1] * 2.0**-53
    p = np.maximum(-duals, 0.0)
    p[each, classes] = 0.0
    total = p.sum(axis=1)
    full = total > 1.0 - rounding
    if full.any():
        p[full] *= (1.0 - 2.0 * rounding) / total[full, None]
        total = p.sum(axis=1)
    np.negative(p, out=duals)
    duals[each, classes] = total


def hessian_product(p: Matrix, directions: Matrix) -> Matrix:
    """φ″·v = (diag(p) − p pᵀ)·v for each row, from its probabilities p and a direction v of its scores."""
    out: Matrix = directions - np.einsum("ij,ij->i", p, directions)[:, None]
    out *= p
    return out


def _log_of_rest(missing: Vector) -> Vector:
    """ln(1 − a), finite where a is 1 (times zero it then counts for nothing)."""
    return np.asarray(np.log1p(-np.minimum(missing, 1.0 - np.finfo(np.float64).epsneg)))
