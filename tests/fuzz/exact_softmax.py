"""P and D of the softmax model: scores are exact, exponentials and logarithms have DIGITS digits.

A row's own dual is minus the exact sum of the others, so every row of probabilities sums to 1. With free intercepts
probability moves between classes until Σ s_i A_i = 0, by the rule of certificate/softmax_candidates.py, here in fractions.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from dyadic import SLACK, WIDE, Dyadic, ExactRows, as_decimal, as_fraction
from exact import Facts, Truth, log1p, plogp

# Below this sum of the other classes' probabilities, the own class's entropy comes from the sum.
NEAR_CERTAIN = Decimal("0.5")


class Moves(NamedTuple):
    """What each class keeps of its probability in every row, and its part of what the others free."""

    keeps: list[Fraction]
    gains: list[Fraction]

    @property
    def is_none(self) -> bool:
        return all(factor == 1 for factor in self.keeps)


def softmax_truth(facts: Facts, weights: Any, intercept: Any, duals: Any) -> Truth:
    """P and D of the returned weights (d × k), intercepts (k) and duals (n × k)."""
    rows, classes = ExactRows(facts.X), facts.class_count
    sample_weight, total = facts.exact_weights()
    columns = [Dyadic.of(column) for column in np.asarray(weights).T]
    constants = [Dyadic.of(float(value)) for value in np.broadcast_to(intercept, classes)]
    scores = [rows.scores(w) + b for w, b in zip(columns, constants, strict=True)]
    strength = Dyadic.of(facts.strength).fraction()
    penalty = strength * sum((w.dot(w).fraction() for w in columns), Fraction(0)) / 2
    primal = _losses(scores, facts.labels, sample_weight.decimals()) / total + penalty
    others = [Dyadic.of(np.where(facts.labels == j, 0.0, -np.asarray(duals)[:, j])) for j in range(classes)]
    own, outside = _own(others)
    probabilities = [_with_own(part, own, facts.labels == j) for j, part in enumerate(others)]
    if outside:
        return Truth(primal, Fraction(0), outside, SLACK * primal)
    moves = _moves(probabilities, facts, sample_weight, total)
    entropy = _entropies(probabilities, facts.labels, moves, sample_weight.decimals()) / total
    quadratic = _quadratic(rows, probabilities, facts, sample_weight, moves) / (2 * strength * total * total)
    return Truth(primal, entropy - quadratic, 0, SLACK * (primal + entropy + quadratic))


def _losses(scores: list[Dyadic], labels: np.ndarray, sample_weight: list[Decimal]) -> Fraction:
    """Σ s_i [log Σ_j e^(z_ij) − z_i,c_i]."""
    lowest = min(column.exponent for column in scores)
    table = np.column_stack([column.at(lowest) for column in scores])
    differences = Dyadic(table - table[np.arange(labels.size), labels][:, None], lowest)
    values = np.reshape(np.array(differences.decimals(), dtype=object), table.shape)
    total = Decimal(0)
    for weight, row, own in zip(sample_weight, values, labels.tolist(), strict=True):
        highest = max(row)
        others = Decimal(0)
        for j, value in enumerate(row):
            # The highest exponent counts as 1, which log1p adds; the own class's is 0 where it leads.
            if j != _place(row, highest, own):
                others = WIDE.add(others, WIDE.exp(WIDE.subtract(value, highest)))
        total = WIDE.fma(weight, WIDE.add(highest, log1p(others)), total)
    return as_fraction(total)


def _place(row: Any, highest: Decimal, own: int) -> int:
    """The class whose score is the highest; the own one in a tie."""
    return own if row[own] == highest else next(j for j, value in enumerate(row) if value == highest)


def _own(others: list[Dyadic]) -> tuple[Dyadic, int]:
    """1 − Σ of the other classes' probabilities for each row, and how many numbers are below zero."""
    own = Dyadic(np.ones(len(others[0].ints), dtype=object), 0)
    outside = 0
    for part in others:
        own = own - part
        outside += int(np.count_nonzero(part.is_negative()))
    return own, outside + int(np.count_nonzero(own.is_negative()))


def _with_own(part: Dyadic, own: Dyadic, is_own: np.ndarray) -> Dyadic:
    low = min(part.exponent, own.exponent)
    return Dyadic(np.where(is_own, own.at(low), part.at(low)), low)


def _moves(probabilities: list[Dyadic], facts: Facts, sample_weight: Dyadic, total: Fraction) -> Moves:
    """A class that holds more than its part of the rows keeps n_c/q_c of it; what is freed goes to those that lack."""
    classes = facts.class_count
    if not facts.intercept:
        return Moves([Fraction(1)] * classes, [Fraction(0)] * classes)
    held = [sample_weight.dot(p).fraction() for p in probabilities]
    due = [sample_weight[facts.labels == j].sum().fraction() for j in range(classes)]
    lacking = [max(n - q, Fraction(0)) for n, q in zip(due, held, strict=True)]
    all_lacking = sum(lacking, Fraction(0))
    keeps = [n / q if q > n else Fraction(1) for n, q in zip(due, held, strict=True)]
    return Moves(keeps, [lack / all_lacking if all_lacking else Fraction(0) for lack in lacking])


def _entropies(probabilities: list[Dyadic], labels: np.ndarray, moves: Moves, sample_weight: list[Decimal]) -> Fraction:
    """Σ s_i H(p_i) after the moves."""
    columns = [p.decimals() for p in probabilities]
    keeps, gains = ([as_decimal(value) for value in part] for part in moves)
    frees = [as_decimal(1 - value) for value in moves.keeps]
    total = Decimal(0)
    for weight, own, row in zip(sample_weight, labels.tolist(), zip(*columns, strict=True), strict=True):
        p = list(row)
        if not moves.is_none:
            freed = Decimal(0)
            for part, free in zip(row, frees, strict=True):
                freed = WIDE.fma(part, free, freed)
            p = [
                WIDE.fma(freed, gain, WIDE.multiply(part, keep))
                for part, keep, gain in zip(row, keeps, gains, strict=True)
            ]
        total = WIDE.fma(weight, _entropy(p, own), total)
    return as_fraction(total)


def _entropy(p: list[Decimal], own: int) -> Decimal:
    """−Σ p_j ln p_j, right in relation to its size: the own class's term comes from 1 − p where it is almost certain."""
    others = [part for j, part in enumerate(p) if j != own]
    missing = Decimal(0)
    entropy = Decimal(0)
    for part in others:
        missing, entropy = WIDE.add(missing, part), WIDE.subtract(entropy, plogp(part))
    if missing < NEAR_CERTAIN:
        return WIDE.subtract(entropy, WIDE.multiply(WIDE.subtract(Decimal(1), missing), log1p(missing.copy_negate())))
    return WIDE.subtract(entropy, plogp(p[own]))


def _quadratic(
    rows: ExactRows, probabilities: list[Dyadic], facts: Facts, sample_weight: Dyadic, moves: Moves
) -> Fraction:
    """‖Σ s_i x_i A_iᵀ‖² after the moves: A = e_c − p, and p is linear in the returned probabilities."""
    one = Dyadic(np.ones(len(facts.labels), dtype=object), 0)
    if moves.is_none:
        total = Fraction(0)
        for j, p in enumerate(probabilities):
            v = rows.combination(sample_weight * _duals(p, one, facts.labels == j))
            total += v.dot(v).fraction()
        return total
    sums = [_fractions(rows.combination(sample_weight * p)) for p in probabilities]
    freed = [sum((part[i] * (1 - keep) for part, keep in zip(sums, moves.keeps, strict=True)), Fraction(0))
             for i in range(rows.dimension)]  # fmt: skip
    total = Fraction(0)
    for j, (part, keep, gain) in enumerate(zip(sums, moves.keeps, moves.gains, strict=True)):
        unmoved = _fractions(
            rows.combination(_with_own(sample_weight - sample_weight, sample_weight, facts.labels == j))
        )
        total += sum(
            ((w - keep * q - gain * f) ** 2 for w, q, f in zip(unmoved, part, freed, strict=True)), Fraction(0)
        )
    return total


def _duals(p: Dyadic, one: Dyadic, is_own: np.ndarray) -> Dyadic:
    """e_c − p for one class."""
    rest = one - p
    low = min(rest.exponent, p.exponent)
    return Dyadic(np.where(is_own, rest.at(low), (-p).at(low)), low)


def _fractions(values: Dyadic) -> list[Fraction]:
    return [Dyadic(value, values.exponent).fraction() for value in values.ints.tolist()]
