"""Newton's part of a round of the softmax model over row blocks: what each block returns at a point, and the step that follows.

gradient in W = λW − (1/S) Σ s_i x_i A_iᵀ , in b = −(1/S) Σ s_i A_i , with A = e_c − softmax(z) at the scores of (W, b)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dualgap.data.blocks import Block
from dualgap.data.blocks.block import sums_over
from dualgap.linalg import cholesky
from dualgap.linalg.partial_sums import Partial
from dualgap.losses.multinomial import Matrix, Vector, hessian_product, probabilities, softmax
from dualgap.problem.softmax_blocks import MultinomialBlockProblem
from dualgap.solvers.newton.softmax_hessian import centered, class_gram, with_penalty

NO_ROOTS: Vector = np.zeros(1)


class SoftmaxPlace(NamedTuple):
    """Weights and intercepts."""

    weights: Matrix
    intercept: Vector

    def moved(self, step: Matrix, size: float) -> SoftmaxPlace:
        """The place after a part of a step, whose last row is that of the intercepts."""
        return SoftmaxPlace(self.weights + size * step[:-1], self.intercept + size * step[-1])


class EvaluateSoftmax(NamedTuple):
    """Asks each block for its part of the gradient and, where it is needed, of the Hessian."""

    place: SoftmaxPlace
    has_matrix: bool
    intercept: bool


class AlongSoftmax(NamedTuple):
    """Asks each block about a step from a place: a product with the Hessian, or slopes at some step sizes."""

    place: SoftmaxPlace
    step: Matrix
    step_sizes: Vector


def _weighted(block: Block, part: slice, values: Matrix) -> Matrix:
    return values if block.weights is None else block.weights[part][:, None] * values


def evaluate_softmax_block(block: Block, asked: EvaluateSoftmax) -> Partial:
    """Σ s x A and Σ s A; then Σ s (diag(p) − p pᵀ) ⊗ x xᵀ, its lower triangle."""
    k = asked.place.intercept.size
    p = np.empty((block.rows.count, k))

    def work(part: slice, products: Matrix) -> tuple[Matrix, Vector, Vector]:
        labels = block.labels[part]
        duals = softmax(products + asked.place.intercept, labels).duals
        p[part] = probabilities(duals, labels)
        weighted = _weighted(block, part, duals)
        return weighted, weighted.sum(axis=0), NO_ROOTS

    found = sums_over(block.rows, asked.place.weights, k, work)
    if not asked.has_matrix:
        return found
    weights = np.ones(block.rows.count) if block.weights is None else block.weights
    gram = class_gram(block.rows, weights, p, asked.intercept)
    return found._replace(sums=np.concatenate([found.sums, gram[np.tril_indices(gram.shape[0])]]))


def multiply_softmax_block(block: Block, asked: AlongSoftmax) -> Partial:
    """Σ s x ((diag(p) − p pᵀ) Δz)ᵀ for the change Δz of the scores along the step, and the same without x."""
    k = asked.place.intercept.size

    def work(part: slice, products: Matrix) -> tuple[Matrix, Vector, Vector]:
        labels = block.labels[part]
        p = probabilities(softmax(products[:, :k] + asked.place.intercept, labels).duals, labels)
        weighted = _weighted(block, part, hessian_product(p, products[:, k:] + asked.step[-1]))
        return weighted, weighted.sum(axis=0), NO_ROOTS

    return sums_over(block.rows, np.concatenate([asked.place.weights, asked.step[:-1]], axis=1), k, work)


def probe_softmax_block(block: Block, asked: AlongSoftmax) -> Partial:
    """Σ s ⟨A, Δz⟩ at each step size."""
    k = asked.place.intercept.size

    def work(part: slice, products: Matrix) -> tuple[Matrix, Vector, Vector]:
        labels, change = block.labels[part], products[:, k:] + asked.step[-1]
        weighted = _weighted(block, part, change)
        scores = products[:, :k] + asked.place.intercept
        numbers = [np.vdot(softmax(scores + t * change, labels).duals, weighted) for t in asked.step_sizes]
        return np.empty((labels.size, 0)), np.array(numbers), NO_ROOTS

    return sums_over(block.rows, np.concatenate([asked.place.weights, asked.step[:-1]], axis=1), 0, work)


class SoftmaxEvaluation(NamedTuple):
    """A place with the sums of all blocks there."""

    place: SoftmaxPlace
    gradient: Matrix
    """One row a column of X, and one more for the intercepts: zeros where they are not free."""
    gram: Matrix | None
    """(1/S) Σ s (diag(p) − p pᵀ) ⊗ x xᵀ; None where no matrix was asked for."""

    @staticmethod
    def of(problem: MultinomialBlockProblem, place: SoftmaxPlace, sums: Vector) -> SoftmaxEvaluation:
        """The sums that blocks returned for `EvaluateSoftmax`."""
        d, k = problem.weights_shape
        scaled = sums / problem.total_weight
        gradient = problem.strength * place.weights - scaled[: d * k].reshape(k, d).T
        last = -scaled[d * k : d * k + k] if problem.intercept else np.zeros(k)
        gram, lower = None, scaled[d * k + k :]
        if lower.size:
            side = k * (d + problem.intercept)
            gram = np.empty((side, side))
            gram[np.tril_indices(side)] = lower
            gram.T[np.tril_indices(side)] = lower
        return SoftmaxEvaluation(place, np.vstack([gradient, last]), gram)

    def estimated_gap(self, problem: MultinomialBlockProblem) -> float:
        """The gap of duals that are moved until Σ s_i A_i vanishes: moving changes the gradient by about √⟨‖x‖²⟩·‖g_b‖."""
        size, last = float(np.linalg.norm(self.gradient[:-1])), float(np.linalg.norm(self.gradient[-1]))
        return float((size + np.sqrt(problem.mean_squared_norm) * last) ** 2 / (2.0 * problem.strength))

    def newton_step(self, problem: MultinomialBlockProblem) -> Matrix:
        """The Newton step from a factor of the Hessian, with a last row for the intercepts."""
        assert self.gram is not None
        k, height = problem.class_count, problem.dimension + problem.intercept
        hessian = with_penalty(self.gram.copy(), k, problem.strength, problem.intercept)
        solution = -cholesky.solver(hessian)(self.gradient[:height].T.ravel())
        return with_last_row(centered(np.ascontiguousarray(solution.reshape(k, height).T)), problem)

    def slope(self, step: Matrix) -> float:
        """The slope of P along a step."""
        return float(np.vdot(self.gradient, step))


def with_last_row(step: Matrix, problem: MultinomialBlockProblem) -> Matrix:
    """The step with a row for the intercepts: zeros where they are not free."""
    return step if problem.intercept else np.vstack([step, np.zeros(problem.class_count)])


def softmax_product(problem: MultinomialBlockProblem, step: Matrix, answers: Partial) -> Matrix:
    """The Hessian times a step, from what blocks returned; as many rows as a step has without those that are not free."""
    d, k = problem.weights_shape
    scaled = answers.sums / problem.total_weight
    out = problem.strength * step[:-1] + scaled[: d * k].reshape(k, d).T
    return np.vstack([out, scaled[d * k :]]) if problem.intercept else out


def softmax_slopes(problem: MultinomialBlockProblem, asked: AlongSoftmax, answers: Partial) -> Vector:
    """The slope of P along the step of a probe at each step size."""
    weights, step = asked.place.weights, asked.step[:-1]
    quadratic = problem.strength * float(np.vdot(step, step))
    constant = problem.strength * float(np.vdot(weights, step))
    return constant + asked.step_sizes * quadratic - answers.sums / problem.total_weight
