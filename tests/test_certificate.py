"""The judge: true against an independent optimum, right about the intercept, and not to be fooled."""

from __future__ import annotations

import numpy as np
import pytest

import dualgap as dg
from dualgap.certificate import Certificate, certify
from examples import small_problem
from independent import optimum

SWITCHES = [(weights, intercept) for weights in (False, True) for intercept in (False, True)]


@pytest.mark.parametrize("loss", list(dg.LOSSES))
@pytest.mark.parametrize(("weights", "intercept"), SWITCHES)
def test_sdca_reaches_the_independent_optimum(loss: str, weights: bool, intercept: bool) -> None:
    problem = small_problem(loss, "dense", weights, intercept)
    result = dg.solve(problem, "sdca", tol=1e-9, max_epochs=25_000, record_every=20)
    best = optimum(problem)
    assert abs(result.certificate.primal - best) <= 1e-7 * best


@pytest.mark.parametrize("loss", list(dg.LOSSES))
@pytest.mark.parametrize(("weights", "intercept"), SWITCHES)
def test_any_answer_gets_true_bounds(loss: str, weights: bool, intercept: bool) -> None:
    """D ≤ P* ≤ P for arbitrary weights and arbitrary duals, feasible or not."""
    problem = small_problem(loss, "csr", weights, intercept)
    best = optimum(problem)
    rng = np.random.default_rng(5)
    for size in (0.0, 0.1, 1.0, 30.0):
        w, alpha = size * rng.normal(size=problem.rows.dimension), size * rng.normal(size=problem.rows.count)
        for duals in (None, alpha):
            judged = certify(problem, w, size * rng.normal(), duals)
            assert judged.certificate.dual <= best * (1 + 1e-8)
            assert judged.certificate.primal >= best * (1 - 1e-8)
            assert not judged.certificate.is_broken
            recomputed = problem.dual(judged.duals, problem.weights_of(judged.duals))
            assert recomputed == pytest.approx(judged.certificate.dual, rel=1e-12, abs=1e-15)
            assert problem.primal(judged.scores, judged.weights) == judged.certificate.primal
            if intercept:
                assert abs(problem.weighted(judged.duals).sum()) <= 1e-12 * max(1.0, np.abs(judged.duals).sum())


@pytest.mark.parametrize("loss", list(dg.LOSSES))
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("scale", [0.0, 1.0, 50.0])
def test_the_intercept_is_the_best_for_the_weights(loss: str, weights: bool, scale: float) -> None:
    problem = small_problem(loss, "dense", weights, True)
    w = scale * np.random.default_rng(1).normal(size=problem.rows.dimension)
    scores = problem.rows.scores(w)
    found = problem.primal(scores + problem.best_intercept(scores, 3.0), w)
    centre = problem.best_intercept(scores, 0.0)
    grid = np.concatenate(
        [centre + np.linspace(-3, 3, 2001) * (1 + scale), *(k - scores for k in problem.loss.kinks(problem.labels))]
    )
    assert found <= min(problem.primal(scores + b, w) for b in grid) * (1 + 1e-13)


@pytest.mark.parametrize("loss", list(dg.LOSSES))
def test_the_gap_closes_from_weights_alone_where_the_loss_is_smooth(loss: str) -> None:
    problem = small_problem(loss, "dense", True, True)
    result = dg.solve(problem, "sdca", tol=1e-11, max_epochs=40_000, record_every=20)
    alone = certify(problem, result.weights, result.intercept).certificate
    if not problem.loss.has_kink:
        assert alone.relative_gap < 1e-5
    with_duals = certify(problem, result.weights, result.intercept, result.duals).certificate
    assert with_duals.gap <= alone.gap


def test_hinge_duals_from_scores_leave_a_gap_at_the_optimum() -> None:
    """Why solvers carry duals: at the very optimum, the duals that the scores suggest prove little."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    problem = dg.Problem(X, y, "hinge", 1e-2)
    result = dg.solve(problem, "sdca", tol=1e-8, max_epochs=5000)
    assert result.status is dg.Status.CERTIFIED
    assert certify(problem, result.weights).certificate.relative_gap > 0.05


@pytest.mark.parametrize("loss", list(dg.LOSSES))
@pytest.mark.parametrize("size", [0.02, 0.6, 1.0, 1.7])
def test_no_other_point_of_the_ray_gives_a_better_bound(loss: str, size: float) -> None:
    problem = small_problem(loss, "dense", True, False)
    optimal = dg.solve(problem, "sdca", tol=1e-4, max_epochs=3000).duals
    given = problem.loss.clip(size * optimal, problem.labels)
    found = certify(problem, np.zeros(5), 0.0, given, carried_target=np.inf).certificate.dual
    full = given.copy()
    empty = problem.rows.squared_norms == 0
    full[empty] = problem.loss.dual_candidate(np.zeros(empty.sum()), problem.labels[empty])
    dual_weights = problem.weights_of(full)
    for t in np.geomspace(0.01, 100, 400):
        here = t * full
        if np.isfinite(problem.loss.negative_conjugate(here, problem.labels)).all():
            # A few digits are asked for, no more: the bound is valid at every point.
            assert problem.dual(here, t * dual_weights) <= found * (1 + 1e-5)


def certificate(primal: float, dual: float, gap: float, error: float = 1e-14, reference: float = 1e-12) -> Certificate:
    return Certificate(primal, dual, gap, error, error, error, reference)


def test_a_dual_value_above_the_primal_beyond_rounding_is_an_alarm() -> None:
    assert not certificate(1.0, 1.0 + 1e-14, 1e-14).is_broken
    assert certificate(1.0, 1.0 + 1e-13, 1e-14).is_broken
    assert certificate(float("nan"), 0.0, 0.0).is_broken
    assert certificate(float("inf"), 0.0, 0.0).is_broken


def test_the_relative_gap_divides_by_a_lower_bound_on_the_primal_value() -> None:
    assert certificate(1.0, 0.5, 0.5, error=0.5).relative_gap == 1.0
    assert certificate(1e-20, 0.0, 1e-20).relative_gap == pytest.approx(1e-8)


def test_where_a_constant_fits_perfectly_the_gap_itself_is_shown() -> None:
    assert certificate(1e-9, 0.0, 1e-9, reference=0.0).relative_gap == 1e-9
    assert certificate(0.0, 0.0, 1e-301, reference=0.0).relative_gap == 0.0


def test_a_proof_counts_rounding() -> None:
    spoiled = certificate(1.0, 1.0, 2e-6, error=2e-6)
    assert spoiled.seems_to_prove(1e-6)
    assert not spoiled.proves(1e-6)
    assert not spoiled.could_prove(1e-6)


def test_a_judge_that_is_lied_to_by_a_loss_raises_the_alarm() -> None:
    class Liar(dg.Hinge):
        def negative_conjugate(self, duals, labels):
            return super().negative_conjugate(duals, labels) + 2.0

    X = np.array([[1.0], [-1.0], [2.0]])
    result = dg.solve(dg.Problem(X, [1, -1, 1], Liar(), 0.1), "sdca", max_epochs=5)
    assert result.status is dg.Status.BROKEN


def test_a_perfect_fit_has_relative_gap_zero() -> None:
    result = dg.solve(dg.Problem(np.ones((3, 2)), np.zeros(3), "squared", 0.1), "sdca")
    assert result.status is dg.Status.CERTIFIED
    assert (result.certificate.primal, result.certificate.gap, result.certificate.relative_gap) == (0.0, 0.0, 0.0)


def test_an_empty_row_gets_its_own_optimum_even_from_a_solver_that_ignores_it() -> None:
    X = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, -1.0]])
    problem = dg.Problem(X, [1, 1, -1], "hinge", 0.1)
    judged = certify(problem, np.array([1.0, 1.0]), 0.0, np.array([0.3, 0.0, -0.3]))
    assert judged.duals[1] == pytest.approx(1.0)


def test_the_judge_stops_early_only_when_the_carried_duals_prove_enough() -> None:
    problem = small_problem("logistic", "dense", False, False)
    result = dg.solve(problem, "sdca", tol=1e-10, max_epochs=1000)
    lazy = certify(problem, result.weights, 0.0, result.duals, carried_target=1e-6).certificate
    full = certify(problem, result.weights, 0.0, result.duals).certificate
    assert lazy.relative_gap <= 1e-6
    assert full.gap <= lazy.gap


def test_a_certificate_prints_as_one_line() -> None:
    text = str(certify(small_problem("hinge", "dense", False, False), np.zeros(5)).certificate)
    assert text.startswith("primal 1, dual")
    assert "\n" not in text


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "epsilon_insensitive", "quantile"])
def test_a_shift_of_the_targets_changes_nothing_but_the_intercept(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=200)
    plain, moved = (
        dg.solve(dg.Problem(X, y + shift, loss, 1e-2, intercept=True), "sdca", tol=1e-5, max_epochs=5000)
        for shift in (0.0, 1e4)
    )
    assert (plain.status, moved.status) == (dg.Status.CERTIFIED, dg.Status.CERTIFIED)
    assert moved.certificate.primal == pytest.approx(plain.certificate.primal, rel=1e-5)
    assert moved.intercept == pytest.approx(plain.intercept + 1e4, abs=0.1)


def test_a_constant_is_a_perfect_fit_only_with_an_intercept() -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.full(3, 5.0)
    free = dg.solve(dg.Problem(X, y, "squared", 0.1, intercept=True), "sdca")
    assert (free.status, free.certificate.relative_gap) == (dg.Status.CERTIFIED, 0.0)
    assert free.intercept == pytest.approx(5.0)
    assert dg.solve(dg.Problem(X, y, "squared", 0.1), "sdca").certificate.primal > 0.1
