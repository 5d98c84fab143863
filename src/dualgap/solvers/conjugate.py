"""Newton's direction without its matrix: conjugate residuals on products with the Hessian, and what speeds them up.

    Hessian = λ·I + Xᵀ B X ,   B = diag(q_i φ″_i) ,   q_i = s_i/S

For a smooth loss without intercept the gap is ‖gradient‖²/(2λ). So the method is the one that makes ‖residual‖ smallest
at every product (Stiefel's conjugate residuals), and it can tell when the gap that is wanted is in reach. A free
intercept is one more coordinate, the last, that nothing penalizes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import daxpy

from dualgap import kernels
from dualgap.rows import DenseRows, Rows
from dualgap.solvers.base import Vector
from dualgap.threads import mapped

Operator = Callable[[Vector], Vector]
Product = Callable[[Vector, Vector], Vector]
"""The Hessian times a vector; the second argument receives X v, with the intercept's part where there is one."""

# A piece of the rows holds so many values, and so many times its column sums, or threads would cost more than they bring.
PIECE_VALUES, PIECE_WIDTHS, MOST_PIECES = 1 << 17, 4, 8

# A solve ends at this part of the gradient at most, and at less as the gradient falls: early models are not worth more.
LOOSEST = 0.5
# The last solve leaves this part of the wanted gap to what the quadratic model does not see.
KEPT = 0.5

# Rows that stand for all of them in a preconditioner are gathered so many at a time, in so many sums.
SAMPLE_BLOCK, SAMPLE_SUMS = 1 << 10, 4


class Direction(NamedTuple):
    """A step, how far each score moves with it, what is left of the gradient, and how many products that took."""

    step: Vector
    moves: Vector
    residual: float
    products: int


def cuts(rows: Rows) -> list[tuple[np.uint64, np.uint64]]:
    """Stretches of rows with about as many values each: how many follows from the size alone, a power of two."""
    worth = rows.stored // max(PIECE_VALUES, PIECE_WIDTHS * rows.dimension)
    pieces = min(MOST_PIECES, 1 << max(worth.bit_length() - 1, 0))
    shares = [rows.stored * k // pieces for k in range(1, pieces)]
    if isinstance(rows.arrays, DenseRows):
        inner = [share // rows.dimension for share in shares]
    else:
        inner = np.searchsorted(rows.arrays.indptr, shares).tolist()
    ends = [np.uint64(end) for end in (0, *inner, rows.count)]
    return list(pairwise(ends))


def scores(rows: Rows, vector: Vector) -> Vector:
    """X v, on threads."""
    out = np.empty(rows.count)
    for _ in mapped(lambda cut: kernels.products.score_rows(rows.arrays, *cut, vector, out), cuts(rows)):
        pass
    return out


def combination(rows: Rows, coefficients: Vector) -> Vector:
    """Xᵀ c, on threads."""
    return _summed(rows, lambda cut, out: kernels.products.combine_rows(rows.arrays, *cut, coefficients, out))


def _summed(rows: Rows, add: Callable[[Any, Vector], None]) -> Vector:
    """The sum over the pieces of what `add` makes of each, in their order."""

    def part(cut: tuple[np.uint64, np.uint64]) -> Vector:
        out = np.zeros(rows.dimension)
        add(cut, out)
        return out

    parts = mapped(part, cuts(rows))
    total = next(parts)
    for other in parts:
        total += other
    return total


def compile_for(rows: Rows, nothing: Vector) -> None:
    """Compile the products for rows of this kind, by making them over none of the rows; `nothing` is a zero a row."""
    none, wide = np.uint64(0), np.zeros(rows.dimension)
    kernels.products.score_rows(rows.arrays, none, none, wide, nothing)
    kernels.products.combine_rows(rows.arrays, none, none, nothing, wide)
    kernels.products.curve_rows(rows.arrays, none, none, nothing, wide, 0.0, nothing, wide)


def hessian(rows: Rows, bends: Vector, strength: float, intercept: bool) -> Product:
    """Products with λ·I + Xᵀ B X; rows without curvature are not read."""

    def product(vector: Vector, moves: Vector) -> Vector:
        inner, shift = (vector[:-1], float(vector[-1])) if intercept else (vector, 0.0)
        out = _summed(
            rows,
            lambda cut, out: kernels.products.curve_rows(rows.arrays, *cut, bends, inner, shift, moves, out),
        )
        daxpy(np.ascontiguousarray(inner), out, a=strength)
        return np.append(out, bends @ moves) if intercept else out

    return product


def wanted_norm(strength: float, primal: float, tol: float) -> float:
    """The ‖gradient‖ at which the relative gap is KEPT·tol: a solve need not go below it."""
    return sqrt(2.0 * strength * KEPT * tol * primal)


def forcing(norm: float, first: float, wanted: float) -> float:
    """Where a solve ends, as a ‖residual‖: loose far from the minimum, and never past what is wanted in the end.

    `norm` is ‖gradient‖ here, `first` where the run began.
    """
    return max(min(LOOSEST, sqrt(norm / first)) * norm, wanted)


def direction(
    rows: Rows,
    bends: Vector,
    strength: float,
    gradient: Vector,
    target: float,
    limit: int,
    intercept: bool = False,
    precondition: Operator | None = None,
) -> Direction:
    """Newton's step from the gradient (the intercept's part last), solved until ‖residual‖ ≤ target.

    `bends` are q_i φ″_i. Every step it returns leads downhill, however early `limit` products end it.
    """
    found = conjugate_residuals(
        hessian(rows, bends, strength, intercept), gradient, target, limit, rows.count, precondition
    )
    if np.all(bends):
        return found
    # Rows without curvature were not read, but their scores move too.
    step = found.step
    moves = scores(rows, step[:-1]) + step[-1] if intercept else scores(rows, step)
    return found._replace(moves=moves)


def conjugate_residuals(
    product: Product, gradient: Vector, target: float, limit: int, count: int, precondition: Operator | None = None
) -> Direction:
    """The step s with Hessian·s = −gradient, from s = 0, by preconditioned conjugate residuals (Stiefel 1955).

    The moves X s are summed from those of the products, so they cost no pass of their own.
    """
    residual = -gradient
    step, moves = np.zeros_like(gradient), np.zeros(count)
    # Without a preconditioner the residual steers by itself, and the two are one array.
    steered = residual if precondition is None else precondition(residual)
    # Places no product writes to stay zero.
    steered_moves = np.zeros(count)
    steered_image = product(steered, steered_moves)
    along, along_moves, image = steered.copy(), steered_moves.copy(), steered_image.copy()
    energy, made = float(steered @ steered_image), 1
    while energy > 0.0:
        steered_along = image if precondition is None else precondition(image)
        length = energy / float(image @ steered_along)
        # BLAS adds in place: with many columns the temporaries of a formula would cost as much as a product.
        daxpy(along, step, a=length)
        daxpy(along_moves, moves, a=length)
        daxpy(image, residual, a=-length)
        if sqrt(float(residual @ residual)) <= target or made >= limit:
            break
        if precondition is not None:
            daxpy(steered_along, steered, a=-length)
        steered_image = product(steered, steered_moves)
        made += 1
        before, energy = energy, float(steered @ steered_image)
        for carried, fresh in ((along, steered), (along_moves, steered_moves), (image, steered_image)):
            carried *= energy / before
            carried += fresh
    return Direction(step, moves, sqrt(float(residual @ residual)), made)


def representatives(pressures: Vector, count: int) -> tuple[NDArray[np.intp], Vector]:
    """About `count` rows drawn systematically in proportion to their pressures, and how much each then counts; or all rows.

    Σ counts_k f(row_k) stands for Σ f(i) where f is proportional to the pressures; no random number is needed.
    """
    if count >= pressures.size:
        return np.arange(pressures.size), np.ones(pressures.size)
    heaped = np.cumsum(pressures)
    stride = float(heaped[-1]) / count
    drawn = np.searchsorted(heaped, (np.arange(count) + 0.5) * stride)
    picked, times = np.unique(np.minimum(drawn, pressures.size - 1), return_counts=True)
    return picked, times * (stride / pressures[picked])


def sample_preconditioner(rows: Rows, bends: Vector, strength: float, count: int, intercept: bool = False) -> Operator:
    """The inverse of λ·I + Σ c_k b_k x_k x_kᵀ over `count` rows that stand for all: long and curved rows come more often.

    Products with these rows run in float32: a preconditioner changes how many steps a solve takes, not where it ends.
    """
    # Where no row has both curvature and length there is nothing to sample but the penalty itself.
    pressures = bends * np.maximum(rows.squared_norms, np.finfo(np.float64).tiny)
    if not float(pressures.sum()) > 0.0:
        return lambda vector: vector / strength
    picked, counts = representatives(pressures, count)
    roots = np.sqrt(counts * bends[picked])
    parts = mapped(lambda k: _gram(rows, picked[k::SAMPLE_SUMS], roots[k::SAMPLE_SUMS], intercept), range(SAMPLE_SUMS))
    matrix = next(parts).astype(np.float64)
    for other in parts:
        matrix += other
    penalized = np.einsum("ii->i", matrix)[: rows.dimension]
    penalized += strength
    return inverse(matrix)


def _gram(rows: Rows, picked: NDArray[np.intp], roots: Vector, intercept: bool) -> NDArray[np.float32]:
    """Σ r_k² x_k x_kᵀ in float32, with a column of ones for the intercept."""
    width = rows.dimension + intercept
    out = np.zeros((width, width), dtype=np.float32)
    for begin in range(0, picked.size, SAMPLE_BLOCK):
        block = slice(begin, begin + SAMPLE_BLOCK)
        part = np.ones((picked[block].size, width), dtype=np.float32)
        _gather(rows, picked[block], part[:, : rows.dimension])
        part *= roots[block, None].astype(np.float32)
        out += part.T @ part
    return out


def _gather(rows: Rows, picked: NDArray[np.intp], out: NDArray[np.float32]) -> None:
    """Copy some rows into a dense matrix."""
    a = rows.arrays
    if isinstance(a, DenseRows):
        out[:] = a.values[picked]
        return
    out[:] = 0.0
    for k, i in enumerate(picked):
        stretch = slice(int(a.indptr[i]), int(a.indptr[i + 1]))
        out[k, a.indices[stretch]] = a.data[stretch]


def inverse(matrix: Vector) -> Operator:
    """matrix⁻¹ by Cholesky, scaled to unit diagonal; jitter where rounding spoils that."""
    scale = 1.0 / np.sqrt(np.maximum(np.einsum("ii->i", matrix), np.finfo(np.float64).tiny))
    matrix = matrix * scale * scale[:, None]
    jitter = 0.0
    while True:
        try:
            factor = cho_factor(matrix + jitter * np.eye(scale.size), lower=True, check_finite=False)
        except LinAlgError:
            jitter = max(10.0 * jitter, float(np.finfo(np.float32).eps))
            continue
        return partial(_solved, factor, scale)


def _solved(factor: Any, scale: Vector, vector: Vector) -> Vector:
    solution: Vector = scale * cho_solve(factor, scale * vector, check_finite=False)
    return solution
