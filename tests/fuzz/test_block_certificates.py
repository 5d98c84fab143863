"""Certificates of row blocks, judged in exact arithmetic: near the optimum and far from it, on easy and on hostile data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from exact import EXACT_LOSSES, Facts, truth_of

import dualgap as dg

COUNT = 24
QUICK = ("hinge", "logistic")
LOSSES = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in sorted(EXACT_LOSSES)]


def hostile(kind: int, loss: Any, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Rows, targets and weights: plain, far from zero, of very different columns, of two values, separable."""
    X = rng.normal(size=(COUNT, 3))
    if kind == 1:
        X += 1e6
    elif kind == 2:
        X *= [1e-5, 1.0, 1e5]
    elif kind == 3:
        X = np.round(X)
        X[5] = 0.0
    z = X @ np.array([1.0, -1.0, 0.5])
    noise = 0.0 if kind == 4 else 1.0
    if loss.task == "classification":
        y = np.where(z - np.median(z) + noise * rng.normal(size=COUNT) > 0.0, 1.0, -1.0)
    elif loss.name == "poisson":
        y = np.floor(rng.exponential(size=COUNT) * 3.0)
    else:
        y = z + noise * rng.normal(size=COUNT) + (1e5 if kind == 1 else 0.0)
    return X, y, rng.uniform(0.0, 2.0, size=COUNT) if kind % 2 else None


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_the_gap_bounds_the_exact_one(name: str, intercept: bool) -> None:
    rng = np.random.default_rng(len(name))
    loss = dg.LOSSES[name]()
    for kind in range(5):
        X, y, s = hostile(kind, loss, rng)
        parts = [(X[c], y[c], *(() if s is None else (s[c],))) for c in (slice(0, 5), slice(5, 20), slice(20, COUNT))]
        start = (rng.normal(size=3), float(rng.normal()), None)
        for options in ({"tol": 1e-7, "max_epochs": 8}, {"tol": 1e-3, "max_epochs": 1, "start": start}):
            problem = dg.Problem(dg.Blocks(parts), loss=loss, strength=1e-4, intercept=intercept)
            result = dg.solve(problem, **options)
            c = result.certificate
            if not np.isfinite(c.gap):  # e^z overflows at a start far out: nothing is claimed
                assert result.status is not dg.Status.CERTIFIED
                continue
            truth = truth_of(
                Facts(X, y, loss, 1e-4, s, intercept), result.weights, result.intercept, result.duals.of(X, y)
            )
            assert truth.outside == 0
            assert truth.gap <= Fraction(c.gap) + truth.slack
            assert abs(truth.primal - Fraction(c.primal)) <= Fraction(c.primal_error) + truth.slack
            if result.status is dg.Status.CERTIFIED:
                scale = max(truth.primal, Fraction(c.reference))
                assert truth.gap <= Fraction(options["tol"]) * scale + truth.slack


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e290])
@pytest.mark.parametrize("name", ["squared", "hinge"])
def test_weights_near_the_ends_of_the_range_are_weights(name: str, unit: float) -> None:
    rng = np.random.default_rng(1)
    X, labels = 0.3 * rng.normal(size=(COUNT, 3)), np.where(rng.random(COUNT) < 0.5, -1.0, 1.0)
    y = labels if name == "hinge" else rng.normal(size=COUNT)
    s = unit * rng.integers(1, 5, size=COUNT)
    parts = [(X[c], y[c], s[c]) for c in (slice(0, 9), slice(9, COUNT))]
    problem = dg.Problem(dg.Blocks(parts), loss=name, strength=0.1)
    assert problem.mean_squared_norm == pytest.approx(dg.Problem(X, y, name, 0.1, sample_weight=s).mean_squared_norm)
    result = dg.solve(problem)
    truth = truth_of(
        Facts(X, y, dg.LOSSES[name](), 0.1, s, False), result.weights, result.intercept, result.duals.of(X, y)
    )
    assert result.status is dg.Status.CERTIFIED
    assert truth.gap <= Fraction(result.certificate.gap)
    assert abs(truth.primal - Fraction(result.certificate.primal)) <= Fraction(result.certificate.primal_error)


@pytest.mark.parametrize("unit", [1.0, 1e-310, 1e200])
def test_a_block_without_weights_stands_beside_one_with_weights(unit: float) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(COUNT, 3)), rng.normal(size=COUNT)
    s = np.r_[unit * rng.integers(3, 9, size=10), np.ones(COUNT - 10)]
    blocks = dg.Blocks([(X[:10], y[:10], s[:10]), (X[10:], y[10:])])
    result = dg.solve(dg.Problem(blocks, loss="squared", strength=0.1))
    truth = truth_of(Facts(X, y, dg.LOSSES["squared"](), 0.1, s, False), result.weights, 0.0, result.duals.of(X, y))
    assert truth.gap <= Fraction(result.certificate.gap)
    assert abs(truth.primal - Fraction(result.certificate.primal)) <= Fraction(result.certificate.primal_error)


def test_factors_of_classes_multiply_weights_in_their_own_units() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(COUNT, 3)), np.where(rng.random(COUNT) < 0.5, -1, 1)
    s = 5e-324 * rng.integers(1, 5, size=COUNT)
    model = dg.LinearSVC(class_weight={-1: 0.3, 1: 2.5}, strength=0.1, fit_intercept=False).fit(dg.Blocks([(X, y, s)]))
    weights = np.ldexp(s, 1074) * np.where(y > 0, 2.5, 0.3)
    loss = dg.LOSSES["squared_hinge"]()
    truth = truth_of(Facts(X, y, loss, 0.1, weights, False), model.coef_[0], 0.0, model.dual_coef_.of(X, y))
    assert model.status_ is dg.Status.CERTIFIED
    assert truth.gap <= Fraction(model.certificate_.gap) * (1 + Fraction(1, 10**12))
    assert float(truth.primal) == pytest.approx(model.certificate_.primal, rel=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("factor", [(1e160, 1.0), (1.0, 1e200)])
def test_values_too_large_to_square_are_refused_without_a_warning(factor: tuple[float, float]) -> None:
    X, y = np.ones((COUNT, 2)), np.arange(COUNT) * 1.0
    parts = [(factor[0] * X[:9], factor[1] * y[:9]), (factor[0] * X[9:], factor[1] * y[9:])]
    with pytest.raises(ValueError, match="too large"):
        dg.solve(dg.Problem(dg.Blocks(parts), loss="squared", strength=0.1))
