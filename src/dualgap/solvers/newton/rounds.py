"""Newton's part of a round over row blocks: what each block returns at a point, and the step that follows from the sum of it.

gradient = λw − Σ q_i α_i x_i ,   Hessian = λ·I + Σ q_i φ_γ″ x_i x_iᵀ ,   q_i = s_i/S

Rows on a curved segment of φ_γ and the others are summed apart, so that one round gives the step to any smaller γ on which rows stay
on their segments: there duals of curved rows and φ_γ″ are larger by the ratio of the two γ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.data.blocks import Block
from dualgap.data.blocks.block import sums_over
from dualgap.linalg import cholesky
from dualgap.linalg.gram import weighted_gram
from dualgap.linalg.partial_sums import Partial
from dualgap.losses import Loss
from dualgap.problem import BlockProblem, total
from dualgap.solvers.newton.systems import square_rows

Vector = NDArray[np.float64]
NO_ROOTS: Vector = np.zeros(1)


class Place(NamedTuple):
    """A point (w + step, b + intercept_step), never rounded to one vector, and γ.

    γ is 0 for a loss without kinks, where the point is (w, b) and nothing else is sent.
    """

    weights: Vector
    step: Vector
    intercept: float
    intercept_step: float
    gamma: float

    @property
    def at(self) -> tuple[Vector, float]:
        """The point as one vector and one number."""
        if not self.gamma:
            return self.weights, self.intercept
        return self.weights + self.step, self.intercept + self.intercept_step

    @property
    def columns(self) -> Vector:
        """The vectors whose products with a row make its score."""
        return np.stack([self.weights, self.step], axis=1) if self.gamma else self.weights[:, None]


class Evaluate(NamedTuple):
    """Asks each block for its part of the loss, the gradient and, where it is needed, of the Hessian."""

    loss: Loss
    place: Place
    has_matrix: bool


class Probe(NamedTuple):
    """Asks each block for slopes and second derivatives at some step sizes along a direction from a place."""

    loss: Loss
    place: Place
    direction: Vector
    shift: float
    step_sizes: Vector


class Multiply(NamedTuple):
    """Asks each block for its part of a product with the Hessian at a place."""

    loss: Loss
    place: Place
    direction: Vector
    shift: float


def derivatives(
    loss: Loss, place: Place, products: Vector, labels: Vector, change: Vector | None = None
) -> tuple[Vector, Vector]:
    """−φ_γ′ and φ_γ″ from the products of rows with the place's columns; `change` is added to the scores."""
    smooth, low = loss, change
    if place.gamma:
        smooth, low = loss.smoothed(place.gamma), products[:, 1] + place.intercept_step
        low = low if change is None else low + change
    return smooth.derivatives_at(loss.argument(products[:, 0] + place.intercept, labels, low), labels)


@np.errstate(over="ignore", invalid="ignore")
def evaluate_block(block: Block, asked: Evaluate) -> Partial:
    """Σ s α x over curved rows and over the others; Σ s α and Σ s φ_γ″; with a matrix also Σ s φ_γ″ x, and Σ s φ_γ″ x xᵀ, its lower half."""
    place, rows = asked.place, block.rows
    hessian_weights = np.empty(rows.count)
    sent = 3 if asked.has_matrix else 2

    def work(part: slice, products: Vector) -> tuple[Vector, Vector, Vector]:
        alpha, second = derivatives(asked.loss, place, products, block.labels[part])
        if block.weights is not None:
            alpha, second = block.weights[part] * alpha, block.weights[part] * second
        hessian_weights[part] = second
        is_curved = second > 0.0
        columns = np.stack([np.where(is_curved, alpha, 0.0), np.where(is_curved, 0.0, alpha), second], axis=1)
        return columns[:, :sent], columns.sum(axis=0), NO_ROOTS

    found = sums_over(rows, place.columns, sent, work)
    if not asked.has_matrix:
        return found
    gram = weighted_gram(rows, hessian_weights, square_rows(rows))
    return found._replace(sums=np.concatenate([found.sums, gram[np.tril_indices(rows.dimension)]]))


@np.errstate(over="ignore", invalid="ignore")
def probe_block(block: Block, asked: Probe) -> Partial:
    """Σ s α ⟨x, direction⟩ and Σ s φ_γ″ ⟨x, direction⟩² at each step size."""
    place = asked.place
    columns = np.column_stack([place.columns, asked.direction])

    def work(part: slice, products: Vector) -> tuple[Vector, Vector, Vector]:
        change = products[:, -1] + asked.shift
        s = None if block.weights is None else block.weights[part]
        numbers = []
        for t in asked.step_sizes:
            alpha, second = derivatives(asked.loss, place, products, block.labels[part], t * change)
            numbers += [total(s, alpha * change), total(s, second * change * change)]
        return np.empty((change.size, 0)), np.array(numbers), NO_ROOTS

    return sums_over(block.rows, columns, 0, work)


@np.errstate(over="ignore", invalid="ignore")
def multiply_block(block: Block, asked: Multiply) -> Partial:
    """Σ s φ″ ⟨x, direction⟩ x, and the same without the last x."""
    columns = np.column_stack([asked.place.columns, asked.direction])

    def work(part: slice, products: Vector) -> tuple[Vector, Vector, Vector]:
        _, second = derivatives(asked.loss, asked.place, products, block.labels[part])
        weighted = second * (products[:, -1] + asked.shift)
        if block.weights is not None:
            weighted = block.weights[part] * weighted
        return weighted[:, None], np.array([weighted.sum()]), NO_ROOTS

    return sums_over(block.rows, columns, 1, work)


class Step(NamedTuple):
    """A Newton step in w and b, and the decrement: minus the slope along it that the quadratic model has at its start."""

    weights: Vector
    shift: float
    decrement: float


class Evaluation(NamedTuple):
    """A place with the sums of all blocks there, divided by S."""

    place: Place
    curved: Vector
    """Σ q α x over the rows on a curved segment, and Σ q α as its last number."""
    linear: Vector
    """The same over the others."""
    border: Vector | None
    """Σ q φ_γ″ x, and Σ q φ_γ″; None where no matrix was asked for."""
    gram: Vector | None
    """Σ q φ_γ″ x xᵀ; None where no matrix was asked for."""

    @staticmethod
    def of(problem: BlockProblem, asked: Evaluate, sums: Vector) -> Evaluation:
        """The sums that blocks returned for `asked`."""
        d, scaled = problem.dimension, sums / problem.total_weight
        sent = 3 if asked.has_matrix else 2
        numbers, lower = scaled[sent * d : sent * d + 3], scaled[sent * d + 3 :]
        curved, linear = (np.append(scaled[k * d : (k + 1) * d], numbers[k]) for k in range(2))
        if not asked.has_matrix:
            return Evaluation(asked.place, curved, linear, None, None)
        border = np.append(scaled[2 * d : 3 * d], numbers[2])
        gram = np.empty((d, d))
        gram[np.tril_indices(d)] = lower
        gram.T[np.tril_indices(d)] = lower
        return Evaluation(asked.place, curved, linear, border, gram)

    @staticmethod
    def of_combination(problem: BlockProblem, place: Place, combination: Vector) -> Evaluation:
        """Without a matrix and at γ = 0, where Σ s α x and Σ s α say all that blocks would answer."""
        return Evaluation(place, combination / problem.total_weight, np.zeros_like(combination), None, None)

    def gradient(self, problem: BlockProblem, scale: float = 1.0) -> Vector:
        """The gradient in w and b; with rows on their segments at γ/scale."""
        weights, _ = self.place.at
        return np.append(problem.strength * weights, 0.0) - scale * self.curved - self.linear

    def gradient_gap(self, problem: BlockProblem) -> float:
        """‖gradient‖²/(2λ), and for a free intercept about what it costs to make Σ q_i α_i zero."""
        gradient = self.gradient(problem)
        gap = float(gradient[:-1] @ gradient[:-1]) / (2.0 * problem.strength)
        return gap + abs(float(gradient[-1])) * (1.0 + abs(self.place.at[1])) if problem.intercept else gap

    def step_to(self, problem: BlockProblem, gamma: float) -> Step:
        """The Newton step at the place's γ or a smaller one, on which rows stay on their segments."""
        assert self.gram is not None
        assert self.border is not None
        scale = self.place.gamma / gamma if gamma else 1.0
        gradient = self.gradient(problem, scale)
        hessian = scale * self.gram
        cholesky.diagonal(hessian)[:] += problem.strength
        corner = scale * float(self.border[-1])
        if not problem.intercept or corner <= 0.0:
            weights = -cholesky.solver(hessian)(gradient[:-1])
            # Without a curved row the Hessian says nothing about b; its gradient gives the sign of the step.
            shift = -float(gradient[-1]) if problem.intercept else 0.0
        else:
            border = scale * self.border[:-1, None]
            bordered = np.block([[hessian, border], [border.T, np.array([[corner]])]])
            solution = -cholesky.solver(bordered)(gradient)
            weights, shift = solution[:-1], float(solution[-1])
        return Step(weights, shift, -float(gradient[:-1] @ weights) - float(gradient[-1]) * shift)

    def slope(self, problem: BlockProblem, step: Step) -> float:
        """The slope of the smoothed objective along a step, at this place."""
        gradient = self.gradient(problem)
        return float(gradient[:-1] @ step.weights) + float(gradient[-1]) * step.shift


def slopes(problem: BlockProblem, asked: Probe, answers: Partial) -> tuple[Vector, Vector]:
    """The slope of the smoothed objective along the direction of a probe, and its derivative, at each step size."""
    rows = answers.sums.reshape(-1, 2) / problem.total_weight
    weights, _ = asked.place.at
    quadratic = problem.strength * float(asked.direction @ asked.direction)
    constant = problem.strength * float(weights @ asked.direction)
    return constant + asked.step_sizes * quadratic - rows[:, 0], quadratic + rows[:, 1]
