"""Objectives that are no `Problem`, in exact arithmetic: a Huber regression with a fitted scale, and least squares without a penalty."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from dyadic import Dyadic, ExactRows
from exact import Facts, Shrink, Truth, _sparse_conjugate, truth_of

# dual_coef_ of a fitted scale are the judge's duals times 2/σ, rounded once: they may leave their domain by this part, and prove
# less by this fraction of ⟨|α||y|⟩.
DUAL_ROUNDING = Fraction(1, 2**50)


def scaled_truth(facts: Facts, weights: Any, intercept: float, duals: Any) -> Truth:
    """Q(w, b, σ) and the bound that its duals give for every w, b and σ; facts.loss is the Huber loss with δ = ε, facts.scale is σ.

    Q = σ + ⟨σH(r/σ)⟩ + λr(w), and min Q ≥ ⟨ay⟩ − λr*(⟨ax⟩/λ) for |a| ≤ 2ε, ⟨a²⟩ ≤ 4 and, where b is free, ⟨a⟩ = 0.
    """
    sample_weight, total = facts.exact_weights()
    epsilon, sigma, strength = Fraction(facts.loss.delta), Fraction(facts.scale), Fraction(facts.strength)
    rows, labels, w = ExactRows(facts.X), Dyadic.of(facts.labels), Dyadic.of(weights)
    residuals = labels - (rows.scores(w) + Dyadic.of(float(intercept)))
    weight_of, size = fractions(sample_weight), [abs(r) for r in fractions(residuals)]
    edge = epsilon * sigma
    # σH(r/σ) is r²/σ up to εσ, and 2ε|r| − ε²σ beyond.
    losses = [r * r / sigma if r <= edge else 2 * epsilon * r - epsilon * edge for r in size]
    ratio = Fraction(facts.l1_ratio)
    penalty = (1 - ratio) * w.dot(w).fraction() / 2 + ratio * abs(w).sum().fraction()
    primal = sigma + dot(weight_of, losses) / total + strength * penalty
    alpha = Dyadic.of(duals)
    values = fractions(alpha)
    shrink = Shrink.of(sample_weight, alpha) if facts.intercept else Shrink(Fraction(1), Fraction(1))
    feasible = [value * (shrink.positive if value > 0 else shrink.negative) for value in values]
    largest = max(map(abs, values))
    outside = sum(abs(value) > 2 * epsilon * (1 + DUAL_ROUNDING) for value in values)
    square = dot(weight_of, [value * value for value in feasible]) / total
    # One factor puts all duals into the domain and their mean square below 4.
    factor = min(Fraction(1), 2 * epsilon / largest if largest else Fraction(1))
    factor /= max(Fraction(1), (1 + square / 4) / 2)
    targets = fractions(labels)
    linear = dot(weight_of, [a * y for a, y in zip(feasible, targets, strict=True)]) / total
    if ratio == 1:
        factor *= 1 - DUAL_ROUNDING  # x(α) may be outside its domain by that rounding
    used = Shrink(factor * shrink.positive, factor * shrink.negative)
    conjugate, columns_outside = _sparse_conjugate(rows, sample_weight * alpha, alpha, used, strength * total, ratio)
    spread = dot(weight_of, [abs(a * y) for a, y in zip(feasible, targets, strict=True)]) / total
    slack = DUAL_ROUNDING * (primal + spread + 2 * strength * conjugate)
    return Truth(primal, factor * linear - strength * conjugate, outside + columns_outside, slack)


def unpenalized_truth(facts: Facts, weights: Any, intercept: float) -> Truth:
    """P = ⟨(y − z)²⟩ and its minimum, from the normal equations of independent columns."""
    sample_weight, total = facts.exact_weights()
    X = facts.X.toarray() if hasattr(facts.X, "toarray") else np.asarray(facts.X)
    rows = [[*map(Fraction, row.tolist()), *([Fraction(1)] if facts.intercept else [])] for row in X.astype(np.float64)]
    targets, s = list(map(Fraction, facts.labels.tolist())), fractions(sample_weight)
    columns = range(len(rows[0]))
    matrix = [
        [dot(s, [row[j] * row[k] for row in rows]) for k in columns]
        + [dot(s, [row[j] * y for row, y in zip(rows, targets, strict=True)])]
        for j in columns
    ]
    best = _eliminated(matrix)

    def cost(parameters: list[Fraction]) -> Fraction:
        squares = [(y - dot(row, parameters)) ** 2 for row, y in zip(rows, targets, strict=True)]
        return dot(s, squares) / total

    given = [*map(Fraction, np.ravel(weights).tolist()), *([Fraction(float(intercept))] if facts.intercept else [])]
    return Truth(cost(given), cost(best), 0, Fraction(0))


def _eliminated(matrix: list[list[Fraction]]) -> list[Fraction]:
    """The solution of linear equations whose right-hand side is the last column; a singular matrix raises ZeroDivisionError."""
    for j in range(len(matrix)):
        pivot = next((k for k in range(j, len(matrix)) if matrix[k][j]), j)
        matrix[j], matrix[pivot] = matrix[pivot], matrix[j]
        for k in range(len(matrix)):
            if k != j and matrix[k][j]:
                factor = matrix[k][j] / matrix[j][j]
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[j], strict=True)]
    return [row[-1] / row[j] for j, row in enumerate(matrix)]


def fractions(values: Dyadic) -> list[Fraction]:
    """The numbers of an array."""
    unit = Fraction(2) ** values.exponent
    return [value * unit for value in values.ints.tolist()]


def dot(left: list[Fraction], right: list[Fraction]) -> Fraction:
    """Σ a_i b_i."""
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def estimator_truth(facts: Facts, weights: Any, intercept: float, duals: Any) -> Truth:
    """P and D of what an estimator or a problem with one score a row minimizes."""
    if facts.scale is not None:
        return scaled_truth(facts, weights, intercept, duals)
    if facts.strength == 0.0:
        return unpenalized_truth(facts, weights, intercept)
    return truth_of(facts, weights, intercept, duals)
