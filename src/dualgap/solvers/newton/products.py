"""Products with the rows by compiled kernels, on threads: X v, Xᵀ c, and the Hessian λ·I + Xᵀ B X times a vector."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import daxpy

from dualgap import kernels
from dualgap.data.rows import Rows
from dualgap.linalg.krylov import Product
from dualgap.linalg.partition import run_slices, sum_slices
from dualgap.solvers.base import Vector


def scores(rows: Rows, vector: Vector) -> Vector:
    """X v."""
    out = np.empty(rows.count)
    run_slices(lambda part: kernels.products.score_rows(rows.arrays, *_ends(part), vector, out), rows.partition)
    return out


def combination(rows: Rows, coefficients: Vector) -> Vector:
    """Xᵀ c."""

    def add(part: slice, out: Vector) -> None:
        kernels.products.combine_rows(rows.arrays, *_ends(part), coefficients, out)

    return sum_slices(add, rows.partition, rows.dimension)


def hessian(rows: Rows, hessian_weights: Vector, strength: float, intercept: bool) -> Product:
    """Products with λ·I + Xᵀ B X, B = diag(hessian_weights); rows of weight zero are not read. By-products are X v + shift."""

    def product(vector: Vector, score_direction: Vector) -> Vector:
        inner, shift = (vector[:-1], float(vector[-1])) if intercept else (vector, 0.0)

        def add(part: slice, out: Vector) -> None:
            kernels.products.hessian_rows(
                rows.arrays, *_ends(part), hessian_weights, inner, shift, score_direction, out
            )

        out = sum_slices(add, rows.partition, rows.dimension)
        daxpy(np.ascontiguousarray(inner), out, a=strength)
        return np.append(out, hessian_weights @ score_direction) if intercept else out

    return product


def compile_products(rows: Rows) -> None:
    """Compile the products for rows of this kind, by making them over none of the rows."""
    none, nothing, wide = np.uint64(0), np.zeros(rows.count), np.zeros(rows.dimension)
    kernels.products.score_rows(rows.arrays, none, none, wide, nothing)
    kernels.products.combine_rows(rows.arrays, none, none, nothing, wide)
    kernels.products.hessian_rows(rows.arrays, none, none, nothing, wide, 0.0, nothing, wide)


def _ends(part: slice) -> tuple[np.uint64, np.uint64]:
    """A slice as kernels take it."""
    return np.uint64(part.start), np.uint64(part.stop)
