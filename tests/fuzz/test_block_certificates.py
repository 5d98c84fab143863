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
