"""Conjugate residuals: a positive definite system solved by products with its matrix, preconditioned or not (Stiefel 1955).

Among all methods of this kind it makes ‖residual‖ smallest after every product.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy

Vector = NDArray[np.float64]
Operator = Callable[[Vector], Vector]
Product = Callable[[Vector, Vector], Vector]
"""The matrix times a vector; the second argument receives by-products, such as X v, that are linear in the vector."""


class Solution(NamedTuple):
    """An approximate solution, its by-products, ‖residual‖, and how many products it took."""

    solution: Vector
    by_products: Vector
    residual: float
    products: int


def conjugate_residuals(
    product: Product, right: Vector, target: float, max_products: int, by_product_count: int,
    preconditioner: Operator | None = None,
) -> Solution:  # fmt: skip
    """x with matrix·x = right, from x = 0, until ‖residual‖ ≤ target; ⟨x, right⟩ > 0 however early it ends."""
    residual = right.copy()
    solution, by_products = np.zeros_like(right), np.zeros(by_product_count)
    # Without a preconditioner the preconditioned residual is the residual, one array.
    preconditioned = residual if preconditioner is None else preconditioner(residual)
    fresh_by_products = np.zeros(by_product_count)  # rows that a product does not read keep zeros
    fresh_image = product(preconditioned, fresh_by_products)
    direction, direction_by_products, image = preconditioned.copy(), fresh_by_products.copy(), fresh_image.copy()
    energy, made = float(preconditioned @ fresh_image), 1
    while energy > 0.0:
        preconditioned_image = image if preconditioner is None else preconditioner(image)
        image_size = float(image @ preconditioned_image)
        if not image_size > 0.0:  # rounding has left nothing of it
            break
        size = energy / image_size
        # BLAS adds in place: with many columns the temporaries of a formula cost as much as a product.
        daxpy(direction, solution, a=size)
        daxpy(direction_by_products, by_products, a=size)
        daxpy(image, residual, a=-size)
        if sqrt(float(residual @ residual)) <= target or made >= max_products:
            break
        if preconditioner is not None:
            daxpy(preconditioned_image, preconditioned, a=-size)
        fresh_image = product(preconditioned, fresh_by_products)
        made += 1
        before, energy = energy, float(preconditioned @ fresh_image)
        carried = (direction, direction_by_products, image)
        for old, fresh in zip(carried, (preconditioned, fresh_by_products, fresh_image), strict=True):
            old *= energy / before
            old += fresh
    return Solution(solution, by_products, sqrt(float(residual @ residual)), made)
