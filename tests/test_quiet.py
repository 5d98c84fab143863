"""Data at the edges of float64's range: what is checked anyway makes no NumPy warning. Warnings are errors in all tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dualgap as dg
from dualgap.problem import score

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
Y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
FAR = np.array([1e300, -1e300, 1e200])
SOLVERS = ["sdca", "asdca", "pegasos(projection=true)", "sgd", "subgradient", "projected_ascent", "newton"]


@pytest.mark.parametrize("solver", [*SOLVERS, "box_ascent"])
@pytest.mark.parametrize("loss", ["squared_hinge", "squared"])
def test_start_beyond_float64_is_judged(solver: str, loss: str) -> None:
    result = dg.solve(dg.Problem(X, Y, loss, 1e-2), solver, start=(FAR, 0.0, None), max_epochs=2)
    assert np.isfinite(result.certificate.gap)


@pytest.mark.parametrize("solver", ["newton", "sdca"])
def test_softmax_start_beyond_float64_is_judged(solver: str) -> None:
    problem = dg.MultinomialProblem(X * 1e10, np.arange(20) % 3, 1e20, intercept=True)
    start = (np.outer(FAR, [1.0, -1.0, 0.5]), None, None)
    result = dg.solve(problem, solver, start=start, max_epochs=2)
    assert np.isfinite(result.certificate.gap)


def test_predicted_scores_may_be_infinite() -> None:
    rows = np.full((2, 3), 1e308) * [[1.0], [-1.0]]
    positive = np.abs(X)
    model = dg.Ridge(fit_intercept=False).fit(positive, positive.sum(axis=1) * 5.0)
    assert model.predict(rows).tolist() == [np.inf, -np.inf]
    result = replace(dg.solve(dg.Problem(X, Y, "squared", 1e-3)), weights=np.full(3, 1e200))
    assert result.predict(rows / 1e158).tolist() == [np.inf, -np.inf]
    several = dg.solve(dg.MultinomialProblem(X, np.arange(20) % 3, 1e-4))
    several = replace(several, weights=np.outer(np.full(3, 1e200), [-1.0, 0.0, 1.0]))
    assert several.predict(rows / 1e158).tolist() == [2, 0]


def test_score_leaves_out_infinite_errors_of_rows_without_weight() -> None:
    labels, scores = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.5, 1e200])
    weights = np.array([1.0, 1.0, 1.0, 0.0])
    assert score(scores, labels, "regression", weights) == pytest.approx(score(scores[:3], labels[:3], "regression"))
    assert score(scores, labels, "regression", np.ones(4)) == -np.inf
