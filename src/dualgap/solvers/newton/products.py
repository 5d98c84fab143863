"""Products with the rows by compiled kernels, on threads: X v, Xᵀ c, and the Hessian λ·I + Xᵀ B X times a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg.blas import daxpy

from dualgap import kernels
from dualgap.data.rows import Rows
from dualgap.linalg.krylov import Product
from dualgap.linalg.parallel import parallel_map
from dualgap.solvers.base import Vector

Range = tuple[np.uint64, np.uint64]


def ranges(rows: Rows) -> list[Range]:
    """The partition of the rows as kernels take it."""
    return [(np.uint64(part.start), np.uint64(part.stop)) for part in rows.parts()]


def scores(rows: Rows, vector: Vector) -> Vector:
    """X v."""
    out = np.empty(rows.count)
    for _ in parallel_map(lambda part: kernels.products.score_rows(rows.arrays, *part, vector, out), ranges(rows)):
        pass
    return out


def combination(rows: Rows, coefficients: Vector) -> Vector:
    """Xᵀ c."""
    return _sum(rows, lambda part, out: kernels.products.combine_rows(rows.arrays, *part, coefficients, out))


def hessian(rows: Rows, hessian_weights: Vector, strength: float, intercept: bool) -> Product:
    """Products with λ·I + Xᵀ B X, B = diag(hessian_weights); rows of weight zero are not read. By-products are X v + shift."""

    def product(vector: Vector, moves: Vector) -> Vector:
        inner, shift = (vector[:-1], float(vector[-1])) if intercept else (vector, 0.0)
        out = _sum(
            rows,
            lambda part, out: kernels.products.curve_rows(
                rows.arrays, *part, hessian_weights, inner, shift, moves, out
            ),
        )
        daxpy(np.ascontiguousarray(inner), out, a=strength)
        return np.append(out, hessian_weights @ moves) if intercept else out

    return product


def compile_products(rows: Rows) -> None:
    """Compile the products for rows of this kind, by making them over none of the rows."""
    none, nothing, wide = np.uint64(0), np.zeros(rows.count), np.zeros(rows.dimension)
    kernels.products.score_rows(rows.arrays, none, none, wide, nothing)
    kernels.products.combine_rows(rows.arrays, none, none, nothing, wide)
    kernels.products.curve_rows(rows.arrays, none, none, nothing, wide, 0.0, nothing, wide)


def _sum(rows: Rows, add: Callable[[Any, Vector], None]) -> Vector:
    """The sum over the partition of what `add` makes of each part, in its order."""

    def part_sum(part: Range) -> Vector:
        out = np.zeros(rows.dimension)
        add(part, out)
        return out

    sums = parallel_map(part_sum, ranges(rows))
    total = next(sums)
    for other in sums:
        total += other
    return total
