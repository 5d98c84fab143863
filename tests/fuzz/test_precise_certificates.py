"""Double-double sums under penalties with an L1 part, judged in exact arithmetic where the columns cancel."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exact import Facts, truth_of

import dualgap as dg
from dualgap.certificate.evaluation import OneScorePoint
from dualgap.certificate.precise import dual_side, matrix_of, row_norms
from dualgap.linalg.double_double import Pair
from dualgap.linalg.floats import UNIT
from dualgap.losses.base import SLACK


def cancelling(seed: int, l1_ratio: float) -> tuple[dg.Problem, np.ndarray, np.ndarray]:
    """Large rows, weights, and duals that are orthogonal to the columns up to rounding, so that x(α) is what is left of it."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 20)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(3.0, 8.0)
    duals = rng.uniform(-0.5, 0.5, n)
    basis, _ = np.linalg.qr(X)
    for _ in range(3):
        duals -= basis @ (basis.T @ duals)
    problem = dg.Problem(X, rng.normal(size=n), "absolute", 10.0 ** rng.uniform(-11.0, -8.0), l1_ratio=l1_ratio)
    return problem, rng.normal(size=d) * 10.0 ** rng.uniform(-6.0, 1.0), duals


def exact_part(problem: dg.Problem, weights: np.ndarray, duals: np.ndarray) -> Fraction:
    """r(w) + r*(x) − ⟨w, x⟩ for 0 < ρ < 1."""
    ratio, divisor, found = Fraction(problem.penalty.l1_ratio), Fraction(problem.strength) * duals.size, Fraction(0)
    for j, w in enumerate(map(Fraction, weights.tolist())):
        column = problem.rows.arrays[0][:, j].tolist()
        x = sum(Fraction(a) * Fraction(value) for a, value in zip(duals.tolist(), column, strict=True)) / divisor
        excess = max(abs(x) - ratio, Fraction(0))
        found += ratio * abs(w) + (1 - ratio) / 2 * w * w + excess * excess / (2 * (1 - ratio)) - w * x
    return found


@pytest.mark.parametrize("l1_ratio", [0.01, 0.1, 0.5, 0.9])
def test_the_penalty_is_not_too_small_where_columns_cancel(l1_ratio: float) -> None:
    for seed in range(75):
        problem, weights, duals = cancelling(seed, l1_ratio)
        size = float(problem.mean(np.abs(duals) * row_norms(problem.rows)))
        found = dual_side(problem, matrix_of(problem.rows), weights, Pair(duals, np.zeros_like(duals)), size)
        ratio, distance = problem.penalty.l2_ratio, float(np.linalg.norm(found.difference))
        moved = distance + found.error / ratio + 4.0 * UNIT * (float(np.linalg.norm(weights)) + distance)
        bound = (found.linear + 0.5 * ratio * moved**2) * SLACK
        assert exact_part(problem, weights, duals) <= Fraction(bound), seed


@pytest.mark.parametrize("l1_ratio", [0.0, 0.01, 0.5, 0.9, 1.0])
def test_the_gap_bounds_the_exact_one_where_columns_cancel(l1_ratio: float) -> None:
    finite = 0
    for seed in range(30):
        problem, weights, duals = cancelling(seed, l1_ratio)
        point = OneScorePoint(problem, weights, 0.0, problem.rows.scores(weights))
        found = point.evaluate_precisely(duals)
        facts = Facts(
            problem.rows.arrays[0], problem.labels, problem.loss, problem.strength, None, False, l1_ratio=l1_ratio
        )
        truth = truth_of(facts, weights, 0.0, duals)
        if found is None:  # x(α) may be outside the domain of r*
            assert l1_ratio == 1.0
            continue
        finite += 1
        assert truth.outside == 0
        assert truth.primal - truth.dual <= Fraction(found.gap), seed
    assert finite > 5
