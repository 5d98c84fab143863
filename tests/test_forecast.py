"""Duals that a Newton step foretold: what they prove is what they were said to, and more than the point's own do."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import dualgap as dg
from dualgap.solvers.forecast import foretold
from dualgap.solvers.path import Iterate, Terms, evaluated, gap_parts
from dualgap.solvers.pieces import whole
from dualgap.solvers.smooth import smooth_step

SMOOTH = ("logistic", "smoothed_hinge", "squared_hinge", "huber", "squared_epsilon_insensitive")


def proven(problem: dg.Problem, at: Iterate, duals: np.ndarray) -> float:
    """The gap by definition; duals that do not sum to zero prove nothing where b is free."""
    scores = at.scores + at.intercept
    return float(problem.primal(scores, at.weights) - problem.dual(duals, problem.weights_of(duals)))


def steps(problem: dg.Problem, count: int) -> list[Iterate]:
    piece, terms = whole(problem), Terms(problem.loss, problem.strength, problem.intercept)
    at = evaluated(piece, terms, np.zeros(problem.rows.dimension), 0.0, np.zeros(problem.rows.count), 0.0)
    taken = [at]
    for _ in range(count):
        taken.append(smooth_step(piece, terms, taken[-1]))
    return taken


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("weighted", [False, True])
def test_what_was_foretold_is_feasible_and_proves_what_it_says(loss: str, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 7)) * 10.0 ** np.linspace(-1.0, 1.0, 7)
    y = np.sign(X @ rng.normal(size=7) + rng.normal(size=300))
    weights = rng.uniform(0.5, 2.0, size=300) if weighted else None
    problem = dg.Problem(X, y, loss, 1e-6, weights)
    piece, terms = whole(problem), Terms(problem.loss, problem.strength, False)
    taken = steps(problem, 12)
    gains = []
    for before, after in pairwise(taken):
        own = sum(gap_parts(piece, terms, after))
        duals, gap = foretold(piece, terms, before, after)
        assert np.array_equal(problem.loss.clip(duals, problem.labels), duals)
        assert gap <= own
        # About the gap: rows are counted by twice their quadratic model, and rounding counts where nothing is left.
        assert proven(problem, after, duals) <= 1.5 * gap + 1e-13 * problem.baseline
        gains.append(gap / own if own > 1e-12 else 1.0)
    if loss == "logistic":
        # λ is small, and near the optimum the gradient is far worse a proof than the step before it.
        assert min(gains) < 1e-2


def test_with_a_free_intercept_the_mixture_sums_to_less() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 4)) * (100.0, 1.0, 1.0, 0.01)
    y = np.where(X[:, 1] + rng.normal(size=200) > 0.7, 1.0, -1.0)
    problem = dg.Problem(X, y, "logistic", 1e-5, intercept=True)
    piece, terms = whole(problem), Terms(problem.loss, problem.strength, True)
    taken = steps(problem, 6)
    for before, after in pairwise(taken[3:]):
        duals, gap = foretold(piece, terms, before, after)
        assert gap <= sum(gap_parts(piece, terms, after))
        assert abs(duals.sum()) <= abs(after.duals.sum()) + 1e-12


def test_a_step_from_the_optimum_foretells_nothing_worse() -> None:
    X, y = np.eye(4), np.array([1.0, -1.0, 1.0, -1.0])
    problem = dg.Problem(X, y, "logistic", 0.1)
    taken = steps(problem, 9)
    piece, terms = whole(problem), Terms(problem.loss, problem.strength, False)
    duals, gap = foretold(piece, terms, taken[-2], taken[-1])
    assert gap == pytest.approx(0.0, abs=1e-20)
    assert np.allclose(duals, taken[-1].duals, rtol=1e-12)


def test_a_step_along_the_third_derivative_is_nearer_by_an_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 5))
    y = np.sign(X @ rng.normal(size=5) + rng.normal(size=400))
    problem = dg.Problem(X, y, "logistic", 1e-3)
    best = dg.solve(problem, "newton", tol=1e-14).weights

    def off(count: int) -> float:
        return float(np.linalg.norm(steps(problem, count)[-1].weights - best))

    bent = [off(count) for count in (2, 3)]
    monkeypatch.setattr("dualgap.solvers.smooth.LENGTHENED", -1.0)
    plain = [off(count) for count in (2, 3)]
    # From one point a plain step leaves about a square, and the bent one about a cube.
    assert bent[1] < bent[0] ** 2.5
    assert plain[1] > plain[0] ** 2.5


@pytest.mark.parametrize("intercept", [False, True])
def test_the_third_derivative_foretells_better_duals(intercept: bool) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 5)) * (10.0, 1.0, 1.0, 1.0, 0.1)
    y = np.where(X[:, 1] + rng.normal(size=400) > 0.3, 1.0, -1.0)
    problem = dg.Problem(X, y, "logistic", 1e-6, intercept=intercept)
    piece, terms = whole(problem), Terms(problem.loss, problem.strength, intercept)
    before, after = steps(problem, 3)[-2:]
    assert after.foretold is not None
    with_it, without = (foretold(piece, terms, before, it)[1] for it in (after, after._replace(foretold=None)))
    assert with_it < 0.1 * without


@pytest.mark.parametrize("intercept", [False, True])
def test_a_step_is_taken_at_its_word_where_that_is_enough(intercept: bool) -> None:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(500, 6))
    y = np.sign(X @ rng.normal(size=6) + rng.normal(size=500))
    problem = dg.Problem(X, y, "logistic", 1e-4, intercept=intercept)
    piece, terms = whole(problem), Terms(problem.loss, problem.strength, intercept)
    near = steps(problem, 2)[-1]
    # Plain, along the third derivative, and not at all: a smaller gap is wanted each time.
    plain, bent, neither = (smooth_step(piece, terms, near, tol, problem.baseline) for tol in (1e-5, 1e-8, 1e-15))
    assert neither.left is None
    assert bent.left is not None
    assert plain.left is not None
    assert bent.left < 0.1 * plain.left
    for after, tol in ((plain, 1e-5), (bent, 1e-8)):
        weights = problem.weights_of(after.duals)
        np.testing.assert_allclose(after.weights, weights, rtol=1e-9)
        gap = problem.primal(problem.scores(weights, after.intercept), weights) - problem.dual(after.duals, weights)
        assert gap <= tol * problem.baseline
        assert gap == pytest.approx(after.left, rel=0.5)


def test_rows_without_weight_have_no_say() -> None:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(500, 6))
    y = np.sign(X @ rng.normal(size=6) + rng.normal(size=500))
    problem = dg.Problem(X, y, "logistic", 1e-4)
    # A row far out, whose foretold dual would leave its domain, but which weighs nothing.
    X, y, weights = np.vstack([X, 1e3 * X[:1]]), np.append(y, -y[0]), np.append(np.ones(500), 0.0)
    same = dg.Problem(X, y, "logistic", 1e-4, weights)
    one, other = (dg.solve(each, "newton", tol=1e-6) for each in (problem, same))
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_who_promised_too_much_is_refused_and_goes_on(monkeypatch: pytest.MonkeyPatch, intercept: bool) -> None:
    rng = np.random.default_rng(13)
    X = rng.normal(size=(300, 4)) * (1.0, 3.0, 10.0, 0.1)
    y = np.sign(X @ rng.normal(size=4) + rng.normal(size=300))
    problem = dg.Problem(X, y, "logistic", 1e-2, intercept=intercept)
    monkeypatch.setattr("dualgap.solvers.smooth._gap", lambda *_: 0.0)
    monkeypatch.setattr("dualgap.solvers.smooth.NEAR", 1e12)
    result = dg.solve(problem, "newton", tol=1e-10, record_every=float("inf"))
    assert result.status is dg.Status.CERTIFIED
    assert len(result.trace) > 1, "the judge refused once"
    assert result.certificate.relative_gap <= 1e-10
