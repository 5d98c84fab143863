"""The certificate of a point on row blocks: each block's sums, and the bound that follows from their total.

The duals are a function of what is sent: α = −φ′ at the scores of w, or −φ_γ′ at those of an unevaluated pair of weights. What a
block returns for α ≥ 0 and for α < 0 apart is enough to scale the two by t₊ and t₋ ≤ 1 so that Σ s_i α_i vanishes:

h(tα) ≤ t·h(α) + (1 − t)·φ(z)   and   −φ*(−tα) ≥ −t·φ*(−α) ,   because h and φ* are convex in α and φ*(0) = 0
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate.block_facts import facts_of, of_zero_duals, weight_norm
from dualgap.certificate.bounds import (
    REFERENCE_PART,
    UNDERFLOW,
    Model,
    PenaltyParts,
    Precision,
    RowSums,
    certificate,
    gamma,
)
from dualgap.certificate.point import ScoreErrors, score_errors
from dualgap.certificate.row_sums import Totals, row_sums, row_totals
from dualgap.certificate.verdict import Certificate
from dualgap.data.blocks import Block
from dualgap.data.blocks.block import sums_over
from dualgap.linalg.partial_sums import Partial
from dualgap.losses import Loss
from dualgap.losses.base import LOSS_ROUNDING, SLACK
from dualgap.problem import BlockProblem, root_of_squares, total

Vector = NDArray[np.float64]

# What a block returns for one sign of the duals, beside the combination of its rows: five means of `Totals`, and Σ s|α|.
NUMBERS = 6


class DualRecipe(NamedTuple):
    """Where duals come from: the point whose scores they are a function of, and the smoothing."""

    weights: Vector
    step: Vector
    """Scores are those of weights + step, and the sum is never rounded to one vector: what is left of kink − z may be as small as γ.
    It is not used where γ is 0."""
    intercept: float
    intercept_step: float
    gamma: float
    """γ of the smoothed loss; 0 for a loss without kinks, whose duals are those of the judged scores."""

    @property
    def at(self) -> tuple[Vector, float]:
        """The point that is judged: w as one vector, and b."""
        if not self.gamma:
            return self.weights, self.intercept
        return self.weights + self.step, self.intercept + self.intercept_step


class Question(NamedTuple):
    """What the judge sends to every block; the point is that of the recipe."""

    recipe: DualRecipe
    constant: float
    """The best constant that is known, whose cost is the reference of the relative gap."""
    loss: Loss
    score_bound: Vector
    """The largest score error of each block."""


def question(problem: BlockProblem, recipe: DualRecipe, constant: float) -> Question:
    """The question about the point and the duals of a recipe."""
    weights, intercept = recipe.at
    norm = weight_norm(weights)
    bounds = [
        score_errors(facts_of(problem, float(size), problem.operations), norm, abs(intercept)).largest
        for size in problem.largest_norms
    ]
    return Question(recipe, constant, problem.loss, np.array(bounds))


@np.errstate(over="ignore", invalid="ignore")
def judge_block(block: Block, asked: Question) -> Partial:
    """A block's part of every sum that the certificate needs."""
    recipe, loss = asked.recipe, asked.loss
    weights, intercept = recipe.at
    reach = float(asked.score_bound[block.number])
    constant = np.full(1, asked.constant)

    def work(part: slice, products: Vector) -> tuple[Vector, Vector, Vector]:
        labels = block.labels[part]
        s = None if block.weights is None else block.weights[part]
        argument = loss.argument(products[:, 0] + intercept, labels)
        alpha = _duals(loss, recipe, products, argument, labels)
        weighted = alpha if s is None else s * alpha
        numbers, roots = [], []
        for is_own in (alpha >= 0.0, alpha < 0.0):
            own = np.flatnonzero(is_own)
            t, a, y = argument[own], alpha[own], labels[own]
            found = row_totals(loss.terms(t, a, y, reach), t, a, None if s is None else s[own], reach)
            numbers += [*found.linear.tolist(), float(np.abs(weighted[own]).sum())]
            roots += found.roots.tolist()
        scores = products[:, 0] + intercept
        if loss.task == "classification":
            fit = total(s, ((scores > 0.0) == (labels > 0.0)).astype(np.float64))
        else:
            fit = total(s, (labels - loss.predictions(scores)) ** 2)
        baseline = total(s, np.broadcast_to(loss.value(constant, labels), labels.shape))
        return (
            np.stack([np.maximum(weighted, 0.0), np.minimum(weighted, 0.0)], axis=1),
            np.array([*numbers, np.count_nonzero(alpha), fit, baseline]),
            np.array(roots),
        )

    return sums_over(block.rows, _columns(recipe, weights), 2, work)


def weighted_combination(answers: Partial, dimension: int) -> Vector:
    """Σ s α x over all rows, and Σ s α as its last number, of the recipe's own duals."""
    combination, numbers = answers.sums[: 2 * dimension].reshape(2, dimension), answers.sums[2 * dimension : -3]
    heavy = numbers.reshape(2, NUMBERS)[:, NUMBERS - 1]
    return np.append(combination.sum(axis=0), heavy[0] - heavy[1])


def duals_of(block: Block, loss: Loss, recipe: DualRecipe, weights: Vector, intercept: float) -> Vector:
    """The duals of a recipe at (weights, intercept) for the rows of a coded block."""
    products = block.rows.scores(_columns(recipe, weights))
    argument = loss.argument(products[:, 0] + intercept, block.labels)
    return _duals(loss, recipe, products, argument, block.labels)


def _columns(recipe: DualRecipe, weights: Vector) -> Vector:
    """The weights whose products with a row its dual is a function of."""
    return np.stack([weights, recipe.weights, recipe.step] if recipe.gamma else [weights], axis=1)


def _duals(loss: Loss, recipe: DualRecipe, products: Vector, argument: Vector, labels: Vector) -> Vector:
    """α from the products of rows with `_columns`; `argument` is that of the loss at the judged scores."""
    if not recipe.gamma:
        return loss.derivatives_at(argument, labels)[0]
    low = products[:, 2] + recipe.intercept_step
    smoothed_at = loss.argument(products[:, 1] + recipe.intercept, labels, low)
    return loss.smoothed(recipe.gamma).derivatives_at(smoothed_at, labels)[0]


class BlockJudgement(NamedTuple):
    """A certificate of a point on row blocks, and what its duals are: the recipe's times a factor for each sign."""

    certificate: Certificate
    factors: tuple[float, float]
    """t₊ and t₋; 0 where zero duals prove more."""
    rows_gap: float
    """⟨h⟩ of the recipe's own duals as computed: what their distance from those of the scores costs."""
    support: int = 0
    """Duals that are not zero."""
    score: float = 0.0
    """Accuracy, or R² for real targets, of all rows."""


@np.errstate(over="ignore", invalid="ignore")
def verdict(problem: BlockProblem, asked: Question, answers: Partial) -> BlockJudgement:
    """The certificate that the sum of all blocks' answers proves."""
    d = problem.dimension
    combination, numbers = answers.sums[: 2 * d].reshape(2, d), answers.sums[2 * d :]
    support, fit, baseline = int(numbers[-3]), float(numbers[-2]) / problem.total_weight, float(numbers[-1])
    baseline /= problem.total_weight
    sides = numbers[:-3].reshape(2, NUMBERS)
    heavy = sides[:, NUMBERS - 1]
    factors = np.ones(2)
    if problem.intercept:
        if min(heavy) > 0.0:
            factors = min(heavy) / heavy
        else:
            factors = np.zeros(2)
    best = _with_factors(problem, asked, combination, sides, answers.roots, factors, baseline)
    # D(tα) is at least t·(what the conjugates give) − t²·g*: a ray on which t ≤ 1 is best may prove more.
    conjugates = float(factors @ sides[:, 1]) / problem.total_weight
    quadratic = 2.0 * problem.penalty(factors @ combination / problem.lambda_n)
    if 0.0 < conjugates < quadratic:
        shrunk = factors * (conjugates / quadratic)
        found = _with_factors(problem, asked, combination, sides, answers.roots, shrunk, baseline)
        if found.certificate.gap < best.certificate.gap:
            best = found
    proven = best.certificate
    zero = of_zero_duals(proven)
    if zero is not None:
        return best._replace(certificate=zero, factors=(0.0, 0.0), support=0, score=_score(problem, fit))
    proven = replace(proven, dual=max(proven.dual, 0.0))
    return best._replace(certificate=proven, support=support, score=_score(problem, fit))


def _score(problem: BlockProblem, fit: float) -> float:
    """Accuracy, or R² for real targets, from the mean of what is right or of squared errors."""
    if problem.classes is not None:
        return fit
    variance = problem.label_square - problem.label_mean**2
    return 1.0 - fit / variance if variance > 0.0 else 0.0


def _with_factors(
    problem: BlockProblem,
    asked: Question,
    combination: Vector,
    sides: Vector,
    roots: Vector,
    factors: Vector,
    baseline: float,
) -> BlockJudgement:
    """What the duals of the recipe prove when those ≥ 0 and those < 0 are multiplied by a factor each."""
    weights, intercept = asked.recipe.at
    operations = problem.operations + 2 + (problem.weight_operations if problem.has_weights else 0)
    facts = facts_of(problem, float(problem.largest_norms.sum()), problem.operations)
    errors = score_errors(facts, weight_norm(weights), abs(intercept))
    both = Totals(sides[:, :5].sum(axis=0), np.hypot(roots[:3], roots[3:]))
    sums = row_sums(both, problem.total_weight, operations, errors.root_mean_square)
    sums = _scaled(sums, sides / problem.total_weight, factors, errors, problem.loss)
    dual_weights = factors @ combination / problem.lambda_n
    lost = problem.count * UNDERFLOW * (sqrt(problem.dimension) + facts.matrix_norm) / problem.lambda_n
    dual_operations = operations + 8
    precision = Precision(
        errors.root_mean_square,
        gamma(dual_operations) * sums.dual * facts.row_norm / problem.strength + lost if sums.dual else 0.0,
        operations,
        2.0 * gamma(operations + 12) if problem.intercept and sums.dual else 0.0,
    )
    distance = root_of_squares(None, weights - dual_weights)
    label = (
        1.0
        if problem.classes is not None
        else sqrt(problem.label_square) * (1.0 + gamma(operations + problem.weight_operations))
    )
    model = Model(
        problem.strength,
        facts.row_norm,
        label if problem.classes is not None else max(label, problem.loss.argument_scale),
        REFERENCE_PART * baseline,
        problem.loss.has_product_form,
        problem.loss.argument_scale,
        problem.dimension,
        abs(intercept),
    )
    parts = PenaltyParts(problem.penalty(weights), problem.penalty(dual_weights), distance)
    proven = certificate(model, sums, precision, parts)
    return BlockJudgement(
        proven, (float(factors[0]), float(factors[1])), float(sides[:, 3].sum()) / problem.total_weight
    )


def _scaled(sums: RowSums, sides: Vector, factors: Vector, errors: ScoreErrors, loss: Loss) -> RowSums:
    """The sums of the scaled duals: of each side t·⟨h⟩ + (1 − t)·⟨φ⟩, t·⟨φ*⟩, and the rounding of both parts.

    φ moves with a score by at most |φ′| ≤ |α| + rate, which is a part 1 − t of it that h alone does not have.
    """
    rest = float((1.0 - factors).max())
    slope = sums.dual + sums.rate
    moved = errors.root_mean_square + LOSS_ROUNDING * (sums.argument + loss.argument_scale)
    return sums._replace(
        gaps=float(factors @ sides[:, 3] + (1.0 - factors) @ sides[:, 0]),
        conjugates=float(factors @ sides[:, 1]),
        score_cost=(sums.score_cost + rest * slope * moved) * SLACK,
    )
