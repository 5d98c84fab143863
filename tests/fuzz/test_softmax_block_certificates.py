"""Certificates of the softmax model on row blocks, judged in exact arithmetic: near the optimum and far from it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exact import Facts
from exact_softmax import softmax_truth

import dualgap as dg

COUNT = 20


@pytest.mark.parametrize("intercept", [False, True])
def test_the_gap_bounds_the_exact_one(intercept: bool) -> None:
    rng = np.random.default_rng(3)
    for shift, scale in ((0.0, [1.0, 1.0, 1.0]), (1e4, [1.0, 1.0, 1.0]), (0.0, [1e-5, 1.0, 1e4])):
        X = (rng.normal(size=(COUNT, 3)) + shift) * scale
        y = np.r_[0, 1, 2, rng.integers(0, 3, size=COUNT - 3)]
        s = rng.uniform(0.1, 2.0, size=COUNT)
        parts = [(X[c], y[c], s[c]) for c in (slice(0, 5), slice(5, COUNT))]
        problem = dg.MultinomialProblem(dg.Blocks(parts), strength=1e-3, intercept=intercept)
        far = (rng.normal(size=(3, 3)), rng.normal(size=3) * intercept, None)
        for options in ({"tol": 1e-7, "max_epochs": 40}, {"tol": 1e-3, "max_epochs": 1, "start": far}):
            result = dg.solve(problem, **options)
            c = result.certificate
            if not np.isfinite(c.gap):
                assert result.status is not dg.Status.CERTIFIED
                continue
            facts = Facts(X, y, None, 1e-3, s, intercept, class_count=3)
            truth = softmax_truth(facts, result.weights, result.intercept, result.duals.of(X, y))
            assert truth.outside == 0
            assert truth.gap <= Fraction(c.gap) + truth.slack
            assert abs(truth.primal - Fraction(c.primal)) <= Fraction(c.primal_error) + truth.slack


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e290])
def test_weights_near_the_ends_of_the_range_are_weights(unit: float) -> None:
    rng = np.random.default_rng(1)
    X, y = 0.3 * rng.normal(size=(COUNT, 3)), np.r_[0, 1, 2, rng.integers(0, 3, size=COUNT - 3)]
    s = unit * rng.integers(1, 5, size=COUNT)
    parts = [(X[c], y[c], s[c]) for c in (slice(0, 5), slice(5, COUNT))]
    result = dg.solve(dg.MultinomialProblem(dg.Blocks(parts), strength=0.1, intercept=True))
    facts = Facts(X, y, None, 0.1, s, True, class_count=3)
    truth = softmax_truth(facts, result.weights, result.intercept, result.duals.of(X, y))
    assert result.status is dg.Status.CERTIFIED
    assert truth.gap <= Fraction(result.certificate.gap) + truth.slack
    assert (
        abs(truth.primal - Fraction(result.certificate.primal))
        <= Fraction(result.certificate.primal_error) + truth.slack
    )


def test_large_intercepts_raise_no_false_alarm() -> None:
    """Σ s_i A_i vanishes up to rounding of probabilities, not of duals, and D moves with it by as much times |b|."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = 1e3 + rng.normal(size=(8, 4))
        y = np.r_[0, 1, 2, 3, rng.integers(0, 4, size=4)]
        problem = dg.MultinomialProblem(dg.Blocks([(X, y)]), strength=1e-6, intercept=True)
        result = dg.solve(problem, tol=1e-6, max_epochs=150)
        assert result.status is not dg.Status.BROKEN, seed
