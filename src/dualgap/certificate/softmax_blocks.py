"""The certificate of a point of the softmax model on row blocks: each block's sums, and the bound that follows from their total.

The duals are a function of what is sent: A = e_c − p for the probabilities p at the scores of (W, b). With free intercepts, where Σ s_i A_i
must vanish, the same parts of every row's probability may be moved between classes: `Moved`, which follows from the sums of a round.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np

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
from dualgap.certificate.point import score_errors
from dualgap.certificate.softmax_candidates import Moved, moved_probabilities, transfer
from dualgap.certificate.verdict import Certificate
from dualgap.data.blocks import Block
from dualgap.data.blocks.block import sums_over
from dualgap.linalg.partial_sums import Partial, tree_depth
from dualgap.losses.base import LOSS_OPERATIONS, SLACK
from dualgap.losses.multinomial import Classes, Matrix, Vector, keep_inside, probabilities, softmax, terms
from dualgap.problem import root_of_squares, total
from dualgap.problem.softmax_blocks import MultinomialBlockProblem

# Numbers that a block returns beside W(A) and two for each class: ⟨φ⟩, ⟨H⟩, sizes, ⟨h⟩, ⟨φ + range⟩, rows with a dual, and the fit.
NUMBERS = 7


class SoftmaxRecipe(NamedTuple):
    """Where duals come from: weights and intercepts, and what is moved between classes."""

    weights: Matrix
    intercept: Vector
    moved: Moved | None = None


class SoftmaxQuestion(NamedTuple):
    """What the judge sends to every block."""

    recipe: SoftmaxRecipe
    score_bound: Vector
    """The largest score error of each block."""


class SoftmaxJudgement(NamedTuple):
    """A certificate of a point of the softmax model on row blocks."""

    certificate: Certificate
    moved: Moved | None
    """What has to be moved for Σ s_i A_i to vanish; None without free intercepts."""
    factor: float
    """What the recipe's duals are multiplied by: 1, or 0 where zero duals prove more."""
    support: int
    score: float


def question(problem: MultinomialBlockProblem, recipe: SoftmaxRecipe) -> SoftmaxQuestion:
    """The question about a point and the duals of a recipe."""
    norm, intercept = weight_norm(recipe.weights), _intercept_size(recipe)
    operations = _operations(problem)
    bounds = [
        score_errors(facts_of(problem, float(size), operations), norm, intercept).largest
        for size in problem.largest_norms
    ]
    return SoftmaxQuestion(recipe, np.array(bounds))


@np.errstate(over="ignore", invalid="ignore")
def judge_softmax_block(block: Block, asked: SoftmaxQuestion) -> Partial:
    """A block's part of every sum that the certificate needs."""
    recipe, reach = asked.recipe, float(asked.score_bound[block.number])

    def work(part: slice, products: Matrix) -> tuple[Matrix, Vector, Vector]:
        labels = block.labels[part]
        s = None if block.weights is None else block.weights[part]
        scores = products + recipe.intercept
        duals = _duals(recipe, scores, labels)
        found = terms(scores, duals, labels)
        weighted = duals if s is None else s[:, None] * duals
        numbers = [
            *weighted.sum(axis=0),
            *np.abs(weighted).sum(axis=0),
            total(s, found.values),
            total(s, found.entropies),
            total(s, found.sizes),
            total(s, found.gaps),
            total(s, found.values + found.ranges),
            np.count_nonzero(found.duals),
            total(s, (scores.argmax(axis=1) == labels).astype(np.float64)),
        ]
        # φ″ changes a sum over the classes by at most the square of the largest change of a score.
        roots = [root_of_squares(s, found.rates + reach), root_of_squares(s, found.duals)]
        return weighted, np.array(numbers), np.array(roots)

    return sums_over(block.rows, recipe.weights, recipe.intercept.size, work)


def softmax_duals_of(block: Block, recipe: SoftmaxRecipe) -> Matrix:
    """The duals of a recipe for the rows of a coded block."""
    return _duals(recipe, block.rows.scores(recipe.weights) + recipe.intercept, block.labels)


def _duals(recipe: SoftmaxRecipe, scores: Matrix, labels: Classes) -> Matrix:
    duals = softmax(scores, labels).duals
    if recipe.moved is not None:
        duals = -moved_probabilities(probabilities(duals, labels), recipe.moved)
    keep_inside(duals, labels)
    return duals


@np.errstate(over="ignore", invalid="ignore")
def softmax_verdict(problem: MultinomialBlockProblem, asked: SoftmaxQuestion, answers: Partial) -> SoftmaxJudgement:
    """The certificate that the sum of all blocks' answers proves."""
    d, k = problem.weights_shape
    recipe, total = asked.recipe, problem.total_weight
    combination = answers.sums[: d * k].reshape(k, d).T / problem.lambda_n
    dual_sums, dual_sizes = answers.sums[d * k : d * k + 2 * k].reshape(2, k) / total
    values, entropies, sizes, gaps, repair, support, fit = map(float, answers.sums[-NUMBERS:])
    operations = _operations(problem) + 2 + problem.weight_operations
    facts = facts_of(problem, float(problem.largest_norms.sum()), _operations(problem))
    errors = score_errors(facts, weight_norm(recipe.weights), _intercept_size(recipe))
    # Sums over the classes are a part of each term.
    relative = (k + LOSS_OPERATIONS) / LOSS_OPERATIONS
    grown = 1.0 + gamma(operations + k + 4)
    rate, dual = (float(root) * sqrt(grown) * SLACK / sqrt(total) for root in answers.roots)
    sums = RowSums(
        values / total,
        entropies / total,
        sizes / total * relative * grown,
        gaps / total,
        rate * errors.root_mean_square * SLACK,
        rate,
        dual,
        0.0,
        repair / total,
        sqrt(2.0) * SLACK,
    )
    lost = problem.count * UNDERFLOW * (sqrt(d) + facts.matrix_norm) / problem.lambda_n
    # A row's own dual is minus the sum of its others, which k operations compute.
    dual_error = gamma(operations + 8 + k) * dual * facts.row_norm / problem.strength + lost
    amounts = np.abs(dual_sums) + gamma(operations + k + 8) * dual_sizes + problem.count * UNDERFLOW
    moved_part = float((amounts / problem.class_weights).max()) if problem.intercept else 0.0
    precision = Precision(
        errors.root_mean_square,
        dual_error,
        operations,
        # A class weight is a sum of weights over S, and its largest amount is a quotient of those.
        moved_part * (1.0 + gamma(2 * (problem.weight_operations + tree_depth(problem.home.count)) + 8)),
    )
    model = Model(
        problem.strength,
        facts.row_norm,
        0.0,
        REFERENCE_PART * problem.baseline,
        False,
        0.0,
        d * k,
        _intercept_size(recipe),
    )
    parts = PenaltyParts(
        problem.penalty(recipe.weights),
        problem.penalty(combination),
        root_of_squares(None, (recipe.weights - combination).ravel()),
    )
    proven = certificate(model, sums, precision, parts)
    moved = transfer(dual_sums, problem.class_weights) if problem.intercept else None
    zero = of_zero_duals(proven)
    if zero is not None:
        return SoftmaxJudgement(zero, moved, 0.0, 0, fit / total)
    return SoftmaxJudgement(replace(proven, dual=max(proven.dual, 0.0)), moved, 1.0, int(support), fit / total)


def _operations(problem: MultinomialBlockProblem) -> int:
    """Additions that a row's term passes through in a sum over all blocks, however a block is cut for k columns."""
    return problem.weight_operations + 2 + tree_depth(problem.home.count)


def _intercept_size(recipe: SoftmaxRecipe) -> float:
    return float(np.abs(recipe.intercept).max())
