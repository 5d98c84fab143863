"""The least of a quadratic model with an L1 part: coordinate descent finds the support, a Cholesky factor the numbers on it.

The matrix M of the model is dense where few columns make it, and otherwise known by the columns: M = Σ c_i x_i x_iᵀ − bbᵀ/corner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from dualgap import kernels
from dualgap.data.rows import Rows
from dualgap.linalg import cholesky
from dualgap.linalg.krylov import conjugate_residuals
from dualgap.linalg.parallel import checkpoint
from dualgap.solvers.sparse_newton.working_set import columns_as_rows, is_large

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# At least four passes of coordinate descent between two solves on the support, and one pass for every 32 coordinates: a solve takes as
# long as a pass for each 32 coordinates.
PASSES, PASS_COORDINATES = 4, 32
# A solve by conjugate residuals ends after 30 products, or at 1e-3 of the first residual.
PRODUCTS, SOLVED_PART = 30, 1e-3
# Passes and solves together, after which the line search takes what there is.
ROUNDS = 40


class Quadratic(ABC):
    """½(u − u₀)ᵀM(u − u₀) + ⟨gradient, u − u₀⟩ + threshold·‖u‖₁ + ridge·‖u‖²/2, as a function of u, and the u so far."""

    def __init__(self, gradient: Vector, start: Vector, threshold: float, ridge: float) -> None:
        self.linear, self.weights = gradient.copy(), start.copy()
        self.threshold, self.ridge = threshold, ridge

    @abstractmethod
    def descend(self, passes: int, tolerance: float) -> float:
        """Passes of coordinate descent until no coordinate is off by `tolerance`; how far the last pass found one off."""

    @abstractmethod
    def gradient_of(self, support: NDArray[np.intp]) -> Vector:
        """The gradient of the quadratic part on a support."""

    @abstractmethod
    def solve(self, support: NDArray[np.intp], right: Vector) -> Vector:
        """About the step on a support with (M + ridge·I)·step = right."""

    @abstractmethod
    def product(self, change: Vector) -> Vector:
        """What a change of all weights changes: the scores or the gradient that the model keeps."""

    @abstractmethod
    def rise(self, support: NDArray[np.intp], change: Vector, product: Vector) -> float:
        """⟨change, M·change⟩ of a change on a support, from its product."""

    @abstractmethod
    def add(self, product: Vector) -> None:
        """Keep up with a change of the weights."""

    def minimize(self, part: float) -> Vector:
        """About the u of the least value, where no coordinate is off by more than `part` of the largest at the start."""
        tolerance = part * self._violation()
        for _ in range(ROUNDS):
            checkpoint()
            passes = max(PASSES, int(np.count_nonzero(self.weights)) // PASS_COORDINATES)
            if self.descend(passes, tolerance) <= tolerance:
                break
            self._solve_on_support()
        return self.weights

    def _violation(self) -> float:
        """How far the coordinate that is farthest from its optimality condition is from it, at the start."""
        slope = self.linear + self.ridge * self.weights
        at_zero = np.maximum(np.abs(slope) - self.threshold, 0.0)
        off = np.where(self.weights == 0.0, at_zero, np.abs(slope + self.threshold * np.sign(self.weights)))
        return float(off.max(initial=0.0))

    def _solve_on_support(self) -> None:
        """The Newton step on the coordinates that are not zero, where those that would change their sign become zero.

        If that does not lower the model, the step ends where the first coordinate becomes zero.
        """
        support = np.flatnonzero(self.weights)
        if not support.size:
            return
        own = self.weights[support]
        signs = np.sign(own)
        slope = self.gradient_of(support) + self.threshold * signs + self.ridge * own
        step = -self.solve(support, slope)
        if not np.isfinite(step).all():
            return
        crossing = (own + step) * signs < 0.0
        first = float((-own[crossing] / step[crossing]).min(initial=1.0))
        for size in (1.0, first):
            reached = own + size * step
            reached[reached * signs <= 0.0] = 0.0
            change = np.zeros_like(self.weights)
            change[support] = moved = reached - own
            product = self.product(change)
            # Where no sign changes the penalty is a line plus a parabola. The last step lowers the model; rounding may hide it.
            change_of_value = moved @ (slope + 0.5 * self.ridge * moved) + 0.5 * self.rise(support, moved, product)
            if change_of_value < 0.0 or size == first:
                self.weights[support] = reached
                self.add(product)
                return


class DenseModel(Quadratic):
    """The model with M as a dense matrix."""

    def __init__(self, matrix: Matrix, gradient: Vector, start: Vector, threshold: float, ridge: float) -> None:
        super().__init__(gradient, start, threshold, ridge)
        self.matrix, self.gradient = np.ascontiguousarray(matrix), self.linear.copy()

    def descend(self, passes: int, tolerance: float) -> float:
        return float(
            kernels.quadratic.coordinate_passes(
                self.matrix, self.threshold, self.ridge, passes, tolerance, self.gradient, self.weights
            )
        )

    def gradient_of(self, support: NDArray[np.intp]) -> Vector:
        return self.gradient[support]

    def solve(self, support: NDArray[np.intp], right: Vector) -> Vector:
        hessian = self.matrix[np.ix_(support, support)]
        cholesky.diagonal(hessian)[:] += self.ridge
        return cholesky.solver(hessian)(right)

    def product(self, change: Vector) -> Vector:
        return np.asarray(self.matrix @ change)

    def rise(self, support: NDArray[np.intp], change: Vector, product: Vector) -> float:
        return float(change @ product[support])

    def add(self, product: Vector) -> None:
        self.gradient += product


class ColumnModel(Quadratic):
    """The model with M known by the columns: `columns` has them as its rows, `factors` are the c_i, and b = Σ c_i x_i or zero."""

    def __init__(
        self,
        columns: Rows,
        factors: Vector,
        border: Vector,
        corner: float,
        damping: float,
        gradient: Vector,
        start: Vector,
        threshold: float,
        ridge: float,
    ) -> None:
        super().__init__(gradient, start, threshold, ridge)
        self.columns, self.factors, self.border, self.corner = columns, factors, border, corner
        squares = np.empty_like(gradient)
        for part, block in columns.blocks():
            squares[part] = (block.multiply(block) if columns.is_sparse else np.square(block)) @ factors
        self.diagonal = squares - border * (border / corner)
        self.damping = damping * float(self.diagonal.mean()) + np.finfo(np.float64).tiny
        self.diagonal += self.damping
        self.scores = np.zeros_like(factors)
        """C X (u − u₀)."""

    def descend(self, passes: int, tolerance: float) -> float:
        return float(
            kernels.quadratic.column_passes(
                self.columns.arrays,
                self.factors,
                self.border,
                self.corner,
                self.diagonal,
                self.threshold,
                self.ridge,
                passes,
                tolerance,
                self.linear,
                self.scores,
                self.weights,
            )
        )

    def gradient_of(self, support: NDArray[np.intp]) -> Vector:
        change = self.columns.scores(self.scores) - self.border * (self.scores.sum() / self.corner)
        return np.asarray(self.linear + change)[support]

    def solve(self, support: NDArray[np.intp], right: Vector) -> Vector:
        border = self.border[support]
        diagonal = self.diagonal[support] + self.ridge

        def times(vector: Vector, scores: Vector) -> Vector:
            change = np.zeros_like(self.weights)
            change[support] = vector
            scores[:] = self.product(change)
            image = self.columns.scores(scores)[support] - border * (float(border @ vector) / self.corner)
            return np.asarray(image + (self.damping + self.ridge) * vector)

        return conjugate_residuals(
            times, right, SOLVED_PART * float(np.linalg.norm(right)), PRODUCTS, self.scores.size, lambda v: v / diagonal
        ).solution

    def product(self, change: Vector) -> Vector:
        return self.factors * self.columns.combination(change)

    def rise(self, support: NDArray[np.intp], change: Vector, product: Vector) -> float:
        used = self.factors > 0.0
        squares = float((np.square(product[used]) / self.factors[used]).sum())
        return squares - float(self.border[support] @ change) ** 2 / self.corner

    def add(self, product: Vector) -> None:
        self.scores += product


def compile_passes(rows: Rows) -> None:
    """Compile the kernels that a working set of these rows may need, by passing over nothing."""
    none = np.empty(0)
    kernels.quadratic.coordinate_passes(np.empty((0, 0)), 0.0, 0.0, 0, 0.0, none, none)
    if is_large(rows, rows.dimension):
        one = columns_as_rows(rows, np.arange(1))
        kernels.quadratic.column_passes(one.arrays, none, none, 1.0, none, 0.0, 0.0, 0, 0.0, none, none, none)
