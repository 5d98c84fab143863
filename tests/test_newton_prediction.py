"""Predicted duals of Newton steps: they prove about the gap that was predicted, and a rejected prediction is not repeated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dualgap as dg
from dualgap.solvers.newton import smooth
from dualgap.solvers.newton.line_search import line_search
from dualgap.solvers.newton.point import Point, evaluate
from dualgap.solvers.newton.prediction import Prediction, predict
from dualgap.solvers.newton.settings import Settings
from dualgap.solvers.newton.subproblem import Subproblem, with_all_rows
from dualgap.solvers.newton.systems import DenseSystem


def logistic(intercept: bool = False, strength: float = 1e-4, weights: np.ndarray | None = None) -> dg.Problem:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(500, 6))
    y = np.sign(X @ rng.normal(size=6) + rng.normal(size=500))
    return dg.Problem(X, y, "logistic", strength, weights, intercept=intercept)


def after_steps(problem: dg.Problem, count: int) -> Point:
    """The point after some Newton steps from zero."""
    sub = with_all_rows(problem)
    point = evaluate(sub, np.zeros(problem.rows.dimension), 0.0, 0.0)
    for _ in range(count):
        point = line_search(sub, point, DenseSystem(sub, point).newton_step(point).direction(sub.rows))
    return point


def prediction_at(problem: dg.Problem, point: Point, of_hessian: Point) -> Prediction:
    """What a step at a point predicts that is made by the Hessian of this or another point."""
    sub = with_all_rows(problem)
    system = DenseSystem(sub, of_hessian)
    return predict(sub, point, system.newton_step(point).direction(sub.rows), system.second_derivatives)


def proven_gap(problem: dg.Problem, prediction: Prediction) -> float:
    """The gap by definition, at w(α)."""
    weights = problem.weights_of(prediction.duals)
    scores = problem.scores(weights, prediction.intercept)
    return problem.primal(scores, weights) - problem.dual(prediction.duals, weights)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("age", [0, 1])
def test_predicted_duals_prove_about_the_predicted_gap(intercept: bool, weighted: bool, age: int) -> None:
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 500) if weighted else None
    problem = logistic(intercept, weights=weights)
    prediction = prediction_at(problem, after_steps(problem, 3), after_steps(problem, 3 - age))
    np.testing.assert_allclose(prediction.weights, problem.weights_of(prediction.duals), rtol=1e-8, atol=1e-12)
    assert proven_gap(problem, prediction) == pytest.approx(prediction.gap, rel=0.5)
    assert np.array_equal(problem.loss.clip(prediction.duals, problem.labels), prediction.duals)


def test_prediction_clips_duals_that_leave_their_domain() -> None:
    problem = logistic(strength=1e-6)
    sub, point = with_all_rows(problem), after_steps(problem, 1)
    step = DenseSystem(sub, point).newton_step(point)
    found = predict(sub, point, step._replace(weights=5.0 * step.weights).direction(sub.rows), point.second_derivatives)
    assert problem.loss.holds(found.duals, problem.labels)
    assert np.isfinite(found.gap)


def test_factor_of_the_last_step_saves_a_hessian(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Counted(DenseSystem):
        def __init__(self, sub: Subproblem, point: Point) -> None:
            made.append(point)
            super().__init__(sub, point)

    monkeypatch.setattr(smooth, "DenseSystem", Counted)
    result = dg.solve(logistic(), "newton", tol=1e-6)
    assert result.status is dg.Status.CERTIFIED
    assert len(made) < result.trace[-1].epoch, "the last epoch made none"


@pytest.mark.parametrize("intercept", [False, True])
def test_small_steps_are_predicted_and_not_evaluated(intercept: bool) -> None:
    problem = logistic(intercept)
    point = after_steps(problem, 2)
    start = smooth.start(problem, None, 0.0, Settings())
    for tol, is_predicted in ((1e-4, True), (1e-7, True), (1e-15, False)):
        state = replace(start, tol=tol, phase=smooth.OnAllRows(point, problem.baseline)).advance()
        assert isinstance(state.phase, smooth.Predicted) == is_predicted
        if is_predicted:
            assert state.estimated_gap() <= tol


def test_rows_without_weight_change_no_prediction() -> None:
    problem = logistic()
    X, y = problem.rows.arrays[0], problem.labels
    # A row far out, whose predicted dual leaves its domain, but whose weight is zero.
    X, y, weights = np.vstack([X, 1e3 * X[:1]]), np.append(y, -y[0]), np.append(np.ones(500), 0.0)
    same = dg.Problem(X, y, "logistic", 1e-4, weights)
    one, other = (dg.solve(each, "newton", tol=1e-6) for each in (problem, same))
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_rejected_prediction_is_evaluated_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch, intercept: bool) -> None:
    rng = np.random.default_rng(13)
    X = rng.normal(size=(300, 4)) * (1.0, 3.0, 10.0, 0.1)
    y = np.sign(X @ rng.normal(size=4) + rng.normal(size=300))
    problem = dg.Problem(X, y, "logistic", 1e-2, intercept=intercept)

    def boasting(*arguments: object) -> Prediction:
        return predict(*arguments)._replace(gap=0.0)

    monkeypatch.setattr(smooth, "predict", boasting)
    monkeypatch.setattr(smooth.Smooth, "_is_prediction_worthwhile", lambda state, *_: state.may_predict)
    result = dg.solve(problem, "newton", tol=1e-10, record_every=float("inf"))
    assert result.status is dg.Status.CERTIFIED
    assert len(result.trace) > 1, "the judge rejected once"
    assert result.certificate.relative_gap <= 1e-10
