"""Rounds of the softmax model: Newton steps with a matrix, or by products with the Hessian that a sample preconditions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.certificate.softmax_blocks import (
    SoftmaxJudgement,
    SoftmaxQuestion,
    SoftmaxRecipe,
    judge_softmax_block,
    question,
    softmax_verdict,
)
from dualgap.data.blocks import Block
from dualgap.linalg.krylov import conjugate_residuals
from dualgap.linalg.partial_sums import Partial, add, add_pairs
from dualgap.losses.multinomial import Matrix, Vector, probabilities, softmax
from dualgap.problem import MultinomialBlockProblem
from dualgap.result import SoftmaxBlockDuals
from dualgap.rounds.run import Run
from dualgap.rounds.settings import PROBED, SETTINGS
from dualgap.solvers.newton import softmax_settings
from dualgap.solvers.newton.softmax_hessian import centered, preconditioner
from dualgap.solvers.newton.softmax_rounds import (
    AlongSoftmax,
    EvaluateSoftmax,
    SoftmaxEvaluation,
    SoftmaxPlace,
    evaluate_softmax_block,
    multiply_softmax_block,
    probe_softmax_block,
    softmax_product,
    softmax_slopes,
    with_last_row,
)


class Asked(NamedTuple):
    """What a round sends."""

    judge: SoftmaxQuestion
    newton: EvaluateSoftmax


def answer_block(block: Block, asked: Asked) -> tuple[Partial, Partial]:
    """A block's answers to the judge and to Newton, which share nothing but the data."""
    return judge_softmax_block(block, asked.judge), evaluate_softmax_block(block, asked.newton)


class RoundPoint(NamedTuple):
    """A point that a round evaluated."""

    asked: SoftmaxQuestion
    judged: SoftmaxJudgement
    newton: SoftmaxEvaluation


class SoftmaxRun(Run[MultinomialBlockProblem, RoundPoint]):
    """A run on the softmax model."""

    def first(self, weights: Matrix, intercept: Any) -> RoundPoint:
        problem = self.problem
        side = (problem.dimension + problem.intercept) * problem.class_count
        self.has_matrix = side <= SETTINGS.softmax_side
        # A part common to all classes only costs penalty, and no Newton step changes it.
        return self._evaluate(SoftmaxPlace(centered(np.asarray(weights)), np.array(intercept, dtype=np.float64)))

    def step(self, here: RoundPoint) -> RoundPoint:
        """A Newton step, whole or of the size at which its slope vanishes."""
        self.steps += 1
        place = here.newton.place
        step = here.newton.newton_step(self.problem) if self.has_matrix else self._truncated(here)
        decrement = -here.newton.slope(step)
        there = self._evaluate(place.moved(step, 1.0))
        if self.ending is not None or there.newton.slope(step) <= SETTINGS.accepted_slope * decrement:
            return there
        asked = AlongSoftmax(place, step, PROBED)
        slopes = softmax_slopes(self.problem, asked, self.ask(probe_softmax_block, asked, add))
        return self._evaluate(place.moved(step, self.step_size(slopes)))

    def answer(self, point: RoundPoint) -> tuple[Matrix, Any, Any]:
        recipe = point.asked.recipe
        duals = SoftmaxBlockDuals(recipe, point.judged.factor, self.problem.coding)
        return recipe.weights, recipe.intercept, duals

    def _evaluate(self, place: SoftmaxPlace) -> RoundPoint:
        """A round at a place, and its record; one more of the judge alone where moved duals are expected to prove the goal."""
        problem = self.problem
        asked = question(problem, SoftmaxRecipe(*place))
        judge, newton = self.ask(
            answer_block, Asked(asked, EvaluateSoftmax(place, self.has_matrix, problem.intercept)), add_pairs
        )
        judged, evaluation = softmax_verdict(problem, asked, judge), SoftmaxEvaluation.of(problem, place, newton.sums)
        c = judged.certificate
        is_unproven = judged.moved is not None and not c.proves(self.limits.tol, self.limits.gap_tol)
        if is_unproven and evaluation.estimated_gap(problem) <= self.goal(c.primal):
            asked = question(problem, SoftmaxRecipe(*place, judged.moved))
            again = softmax_verdict(problem, asked, self.ask(judge_softmax_block, asked, add))
            if again.certificate.gap < c.gap:
                return self.recorded(RoundPoint(asked, again, evaluation))
            asked = question(problem, SoftmaxRecipe(*place))
        return self.recorded(RoundPoint(asked, judged, evaluation))

    def _truncated(self, here: RoundPoint) -> Matrix:
        """A Newton step by conjugate residuals, a round for each product with the Hessian."""
        problem, place, sample = self.problem, here.newton.place, self.problem.sample_problem
        settings = softmax_settings.SETTINGS
        height = problem.dimension + problem.intercept
        right = -centered(here.newton.gradient[:height])
        scores = sample.scores(place.weights, place.intercept)
        p = sample.each(lambda c: probabilities(softmax(scores[c], sample.labels[c]).duals, sample.labels[c]))
        inverse = preconditioner(sample, p, settings)

        def product(vector: Vector, _: Vector) -> Vector:
            step = with_last_row(vector.reshape(right.shape), problem)
            answers = self.ask(multiply_softmax_block, AlongSoftmax(place, step, PROBED[:0]), add)
            return np.asarray(softmax_product(problem, step, answers).ravel())

        smallest = np.sqrt(problem.strength * self.goal(here.judged.certificate.primal))
        if problem.intercept:
            # The estimated gap multiplies the gradient in b by this factor.
            smallest /= max(1.0, np.sqrt(problem.mean_squared_norm))
        target = max(settings.loosest_solve * float(np.linalg.norm(right)), float(smallest))
        found = conjugate_residuals(
            product,
            right.ravel(),
            target,
            SETTINGS.max_products,
            1,
            lambda residual: inverse(residual.reshape(right.shape)).ravel(),
        )
        return with_last_row(found.solution.reshape(right.shape), problem)
