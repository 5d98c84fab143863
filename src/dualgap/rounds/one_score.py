"""Rounds of a problem with one score a row: Newton steps along a decreasing γ, with a matrix or by products with the Hessian."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate.blocks import (
    BlockJudgement,
    DualRecipe,
    Question,
    judge_block,
    question,
    verdict,
    weighted_combination,
)
from dualgap.data.blocks import Block
from dualgap.linalg.floats import HALF_DIGITS, UNIT
from dualgap.linalg.krylov import Operator, conjugate_residuals
from dualgap.linalg.partial_sums import Partial, add, add_pairs
from dualgap.problem import BlockProblem
from dualgap.result import BlockDuals
from dualgap.rounds.run import Run
from dualgap.rounds.settings import PROBED, SETTINGS
from dualgap.solvers.newton import Newton
from dualgap.solvers.newton.preconditioner import sample_preconditioner
from dualgap.solvers.newton.rounds import (
    Evaluate,
    Evaluation,
    Multiply,
    Place,
    Probe,
    Step,
    derivatives,
    evaluate_block,
    multiply_block,
    probe_block,
    slopes,
)

Vector = NDArray[np.float64]
# The step of a place at γ = 0, which has none.
NO_STEP: Vector = np.empty(0)


class Asked(NamedTuple):
    """What a round sends."""

    judge: Question
    newton: Evaluate


def answer_block(block: Block, asked: Asked) -> tuple[Partial, Partial]:
    """A block's answers to the judge and to Newton, which share nothing but the data."""
    return judge_block(block, asked.judge), evaluate_block(block, asked.newton)


class RoundPoint(NamedTuple):
    """A point that a round evaluated."""

    asked: Question
    judged: BlockJudgement
    newton: Evaluation


class OneScoreRun(Run[BlockProblem, RoundPoint]):
    """A run on a problem with one score a row."""

    def first(self, weights: Vector, intercept: Any) -> RoundPoint:
        problem = self.problem
        self.has_matrix = problem.dimension <= SETTINGS.dense_columns
        self.constant = float(problem.sample_problem.constant)
        self.first_norm = inf
        gamma = self._first_gamma(weights, float(intercept)) if problem.loss.has_kink else 0.0
        step = np.zeros(problem.dimension) if gamma else NO_STEP
        return self._evaluate(Place(np.array(weights), step, float(intercept), 0.0, gamma))

    def step(self, here: RoundPoint) -> RoundPoint:
        """A Newton step, at a smaller γ where the smoothing's part of the gap is the larger one."""
        place = here.newton.place
        gamma = place.gamma
        if gamma and here.newton.gradient_gap(self.problem) <= here.judged.rows_gap:
            gamma = self._next_gamma(here)
            self.idle = 0
        self.steps += 1
        step = here.newton.step_to(self.problem, gamma) if self.has_matrix else self._truncated(here, gamma)
        there = self._evaluate(self._moved(place, step, 1.0, gamma))
        if (
            self.ending is not None
            or there.newton.slope(self.problem, step) <= SETTINGS.accepted_slope * step.decrement
        ):
            return there
        asked = Probe(self.problem.loss, place._replace(gamma=gamma), step.weights, step.shift, PROBED)
        found, _ = slopes(self.problem, asked, self.ask(probe_block, asked, add))
        return self._evaluate(self._moved(place, step, self.step_size(found), gamma))

    def answer(self, point: RoundPoint) -> tuple[Vector, Any, Any]:
        recipe, problem = point.asked.recipe, self.problem
        weights, intercept = recipe.at
        duals = BlockDuals(recipe, point.judged.factors, problem.loss, problem.coding, weights, intercept)
        return weights, intercept, duals

    # Points.

    def _first_gamma(self, weights: Vector, intercept: float) -> float:
        """A γ at which enough rows are curved to determine w, by the sampled rows' distances from a kink."""
        sample = self.problem.sample_problem
        scores = sample.scores(weights, intercept)
        distances = np.min([np.abs(scores - kink) for kink in self.problem.loss.kinks(sample.labels)], axis=0)
        part = min(SETTINGS.first_curved * self.problem.dimension / self.problem.count, 1.0)
        return max(float(np.quantile(distances, part)), self._smallest_gamma)

    @property
    def _smallest_gamma(self) -> float:
        return Newton.settings.smallest_gamma * self.problem.sample_problem.baseline or 1.0

    def _moved(self, place: Place, step: Step, size: float, gamma: float) -> Place:
        """The place after a part of a step, with the point the steps count from moved where they are long."""
        if not gamma:
            return Place(place.weights + size * step.weights, NO_STEP, place.intercept + size * step.shift, 0.0, 0.0)
        moved = Place(
            place.weights,
            place.step + size * step.weights,
            place.intercept,
            place.intercept_step + size * step.shift,
            gamma,
        )
        step_norm = np.sqrt(self.problem.mean_squared_norm * float(moved.step @ moved.step)) + abs(moved.intercept_step)
        # The sum of the last steps is added to the weights where rounding could move the duals of curved rows, (kink − z)/γ.
        if UNIT * step_norm > HALF_DIGITS * gamma:
            weights, intercept = moved.at
            return Place(weights, np.zeros_like(weights), intercept, 0.0, gamma)
        return moved

    def _evaluate(self, place: Place) -> RoundPoint:
        """A round at a place, and its record."""
        problem = self.problem
        asked = question(problem, DualRecipe(*place), self.constant)
        if self.has_matrix or place.gamma:
            evaluate = Evaluate(problem.loss, place, self.has_matrix)
            judge, newton = self.ask(answer_block, Asked(asked, evaluate), add_pairs)
            evaluated = Evaluation.of(problem, evaluate, newton.sums)
        else:
            # Newton reads the gradient from the judge's combination, which need not be summed and sent twice.
            judge = self.ask(judge_block, asked, add)
            combination = weighted_combination(judge, problem.dimension)
            evaluated = Evaluation.of_combination(problem, place, combination)
        return self.recorded(RoundPoint(asked, verdict(problem, asked, judge), evaluated))

    def _next_gamma(self, here: RoundPoint) -> float:
        """A smaller γ, but no smaller than tol needs: the smoothing's part of the gap decreases about as γ does."""
        gamma, judged = here.newton.place.gamma, here.judged
        goal = self.goal(judged.certificate.primal)
        # Half of tol is left to the gradient's part of the gap.
        needed = 0.5 * goal / judged.rows_gap * gamma if judged.rows_gap else 0.0
        return max(SETTINGS.gamma_decay * gamma, min(needed, 0.5 * gamma), min(self._smallest_gamma, gamma))

    def _truncated(self, here: RoundPoint, gamma: float) -> Step:
        """A Newton step by conjugate residuals, a round for each product with the Hessian."""
        problem, place = self.problem, here.newton.place
        # Curved rows stay on their segments at a smaller γ, where their part of the gradient and of the Hessian is larger by this factor.
        scale = place.gamma / gamma if gamma else 1.0
        gradient = here.newton.gradient(problem, scale)
        if not problem.intercept:
            gradient = gradient[:-1]
        d = problem.dimension

        def product(direction: Vector, _: Vector) -> Vector:
            shift = float(direction[d]) if problem.intercept else 0.0
            asked = Multiply(problem.loss, place, direction[:d], shift)
            sums = self.ask(multiply_block, asked, add).sums * (scale / problem.total_weight)
            sums[:d] += problem.strength * direction[:d]
            return np.asarray(sums[: gradient.size])

        norm = float(np.linalg.norm(gradient))
        self.first_norm = norm if self.first_norm == inf else self.first_norm
        # As in memory: a solve ends at half of ‖gradient‖, earlier the smaller the gradient has become.
        goal = self.goal(here.judged.certificate.primal)
        target = max(min(0.5, np.sqrt(norm / self.first_norm)) * norm, np.sqrt(problem.strength * goal))
        steps = conjugate_residuals(
            product, -gradient, target, SETTINGS.max_products, 1, self._preconditioner(place, scale)
        )
        solution = steps.solution
        shift = float(solution[d]) if problem.intercept else 0.0
        return Step(solution[:d], shift, -float(gradient @ solution))

    def _preconditioner(self, place: Place, scale: float) -> Operator | None:
        """The inverse of the sample's Hessian, where it has few enough columns for a factor."""
        problem, sample = self.problem, self.problem.sample_problem
        if problem.dimension > SETTINGS.preconditioner_columns:
            return None
        products = sample.rows.scores(place.columns)
        _, second = derivatives(problem.loss, place, products, sample.labels)
        weights = second * (scale / sample.total_weight)
        if sample.sample_weight is not None:
            weights *= sample.sample_weight
        return sample_preconditioner(sample.rows, weights, problem.strength, sample.rows.count, problem.intercept)
