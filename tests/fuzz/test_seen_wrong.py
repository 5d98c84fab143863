"""Problems on which certificates were once false, judged again in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exact import Facts, truth_of
from exact_softmax import softmax_truth

import dualgap as dg


def check(problem: dg.Problem, X: np.ndarray, y: np.ndarray, result: dg.Result, tol: float) -> None:
    """The gap bounds the exact one, and CERTIFIED means that the exact one is within tol."""
    weights = None if problem.sample_weight is None else problem.given_weight
    facts = Facts(X, y, problem.loss, problem.strength, weights, problem.intercept)
    truth = truth_of(facts, result.weights, result.intercept, result.duals)
    gap = truth.primal - max(truth.dual, Fraction(0))
    assert gap <= Fraction(result.certificate.gap)
    assert abs(truth.primal - Fraction(result.certificate.primal)) <= Fraction(result.certificate.primal_error)
    if result.status is dg.Status.CERTIFIED:
        assert gap <= Fraction(tol) * max(truth.primal, Fraction(result.certificate.reference))


def test_no_certificate_is_false_on_a_near_perfect_fit_far_from_zero_with_many_columns() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(8, 20)), 1e5 + rng.normal(size=8)
    problem = dg.Problem(X, y, "absolute", 1e-10, intercept=True)
    result = dg.solve(problem)
    check(problem, X, y, result, 1e-6)
    assert result.certificate.primal == pytest.approx(3.400e-11, rel=1e-3)


@pytest.mark.parametrize("loss", ["quantile(tau=0.3)", "absolute", "squared", "huber"])
@pytest.mark.parametrize("shift", [1e7, 1e8])
def test_no_certificate_is_false_on_data_far_from_zero(loss: str, shift: float) -> None:
    rng = np.random.default_rng(0)
    X = shift + rng.normal(size=(33, 2))
    y = (X - shift) @ [1.0, -2.0] + 1e-4 * rng.normal(size=33)
    problem = dg.Problem(X, y, loss, 1e-6, intercept=True)
    check(problem, X, y, dg.solve(problem, tol=1e-8), 1e-8)


def test_one_huge_target_and_weights_beyond_any_strength() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(8, 3)), rng.normal(size=8)
    X[:, 1], y[0] = 1.0, 1e7
    weights = rng.random(8) * 1e200
    problem = dg.Problem(X, y, "squared", 1e-7 / weights.sum(), sample_weight=weights, intercept=True)
    check(problem, X, y, dg.solve(problem, tol=1e-9), 1e-9)


def test_denormal_sample_weights_are_weights() -> None:
    X, y = np.eye(5), np.full(5, 1e-8)
    problem = dg.Problem(X, y, "squared", 1.0, sample_weight=np.full(5, 1e-310))
    result = dg.solve(problem, "newton", record_every=1)
    check(problem, X, y, result, 1e-6)
    assert result.status is dg.Status.CERTIFIED
    assert result.certificate.primal > 1e-17


def test_hinge_with_almost_no_penalty() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 30))
    y = np.where(rng.random(20) < 0.5, -1.0, 1.0)
    problem = dg.Problem(X, y, "hinge", 1e-10)
    check(problem, X, y, dg.solve(problem, tol=1e-9), 1e-9)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_no_certificate_is_false_on_targets_far_from_zero(loss: str) -> None:
    """At y near 1e12 a residual of 1 keeps four digits, so that plain sums prove nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=200) + 1e12
    problem = dg.Problem(X, y, loss, 1e-2, intercept=True)
    result = dg.solve(problem, "sdca", tol=1e-6, max_epochs=5000)
    assert result.status in (dg.Status.CERTIFIED, dg.Status.STALLED)
    check(problem, X, y, result, 1e-6)


def test_hinge_on_data_far_from_zero() -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = 1e8 + rng.normal(size=(40, 3))
        y = np.where((X - 1e8) @ [1.0, 2.0, -1.0] > 0.0, 1.0, -1.0)
        problem = dg.Problem(X, y, "hinge", 1e-3, intercept=True)
        check(problem, X, y, dg.solve(problem, tol=1e-8), 1e-8)


def test_softmax_on_data_far_from_zero() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = 1e6 + rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
        result = dg.solve(dg.MultinomialProblem(X, y, 1e-6, intercept=True), tol=1e-8)
        truth = softmax_truth(
            Facts(X, y, None, 1e-6, None, True, class_count=3), result.weights, result.intercept, result.duals
        )
        certificate = result.certificate
        assert truth.outside == 0
        assert truth.gap - truth.slack <= Fraction(certificate.gap)
        assert abs(truth.primal - Fraction(certificate.primal)) <= Fraction(certificate.primal_error) + truth.slack
        if result.status is dg.Status.CERTIFIED:
            assert truth.gap - truth.slack <= Fraction(1, 10**8) * truth.primal
