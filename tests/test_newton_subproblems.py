"""Newton on subsamples and working sets: few rows are read, and the answer is that of all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.solvers.newton import continuation, smooth
from dualgap.solvers.newton.point import Point, evaluate
from dualgap.solvers.newton.settings import Settings
from dualgap.solvers.newton.subproblem import subsample, subsample_intervals, with_all_rows
from dualgap.solvers.newton.working_set import select_working_set


def problem_of(
    loss: str, form=np.asarray, intercept: bool = False, weights: bool = False, count: int = 12_000
) -> dg.Problem:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(count, 6)) * [1.0, 2.0, 0.5, 1.0, 1.0, 3.0]
    X[7], X[9] = 0.0, X[10]
    z = X @ [1.0, -1.0, 0.5, 0.0, 0.2, 0.1] + 0.3 + rng.normal(size=count)
    y = np.where(z > 0.0, 1.0, -1.0) if dg.LOSSES[loss].task == "classification" else z
    s = rng.uniform(0.0, 2.0, count) if weights else None
    return dg.Problem(form(X), y, loss, 1.0 / count, sample_weight=s, intercept=intercept)


@pytest.mark.parametrize("loss", ["hinge", "absolute", "quantile", "epsilon_insensitive", "logistic", "squared_hinge"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("intercept", [False, True])
def test_answer_is_that_of_all_rows(loss: str, form, intercept: bool) -> None:
    problem = problem_of(loss, form, intercept, weights=intercept)
    result = dg.solve(problem, "newton", tol=1e-8)
    assert result.status is dg.Status.CERTIFIED
    # Most steps read a part of the rows: fewer epochs than steps.
    assert result.trace[-1].epoch < 0.7 * result.trace[-1].updates


def test_subsamples_grow_and_small_data_has_none() -> None:
    settings = Settings()
    assert subsample_intervals(problem_of("hinge", count=3000), settings) == ()
    intervals = subsample_intervals(problem_of("hinge", count=600_000), settings)
    assert list(intervals) == sorted(intervals, reverse=True)
    assert len(intervals) == 2
    assert subsample_intervals(problem_of("logistic", count=5900), settings) == ()
    assert subsample_intervals(problem_of("hinge", count=10_000), settings) == (5,)


def test_subsample_weights_sum_to_one() -> None:
    sub = subsample(problem_of("hinge", weights=True), 3)
    assert sub.count == 4000
    assert sub.normalized_weights.sum() == pytest.approx(1.0)
    assert not sub.linear_term.any()


def point_near_kinks(problem: dg.Problem) -> Point:
    """A point of which a few rows are on a curved segment."""
    return evaluate(with_all_rows(problem), np.random.default_rng(2).normal(size=6), 0.1, 1e-3)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_working_set_has_the_gradient_of_all_rows(loss: str, form) -> None:
    problem = problem_of(loss, form, weights=True, intercept=True)
    point = point_near_kinks(problem)
    found = select_working_set(problem, point, Settings())
    assert found is not None
    inside = evaluate(found.sub, point.weights, point.intercept, point.gamma)
    assert found.sub.count < problem.rows.count // 4
    np.testing.assert_allclose(inside.gradient, point.gradient, atol=1e-12)
    assert inside.gradient_intercept == pytest.approx(point.gradient_intercept, abs=1e-12)
    np.testing.assert_allclose(inside.duals, found.point.duals)


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_working_set_holds_curved_rows_and_those_nearest_to_a_kink(loss: str) -> None:
    problem = problem_of(loss)
    point = point_near_kinks(problem)
    found = select_working_set(problem, point, Settings())
    assert found is not None
    numbers = found.sub.row_numbers
    assert np.isin(np.flatnonzero(point.second_derivatives), numbers).all()
    left_out = np.delete(np.arange(problem.rows.count), numbers)
    scores = point.scores + point.intercept
    distances = np.min([np.abs(scores - kink) for kink in problem.loss.kinks(problem.labels)], axis=0)
    distances[point.second_derivatives > 0.0] = 0.0
    assert distances[left_out].min() >= distances[numbers].max()


def test_working_set_of_most_rows_is_none() -> None:
    problem = problem_of("hinge")
    point = evaluate(with_all_rows(problem), np.zeros(6), 0.9, 1.0)
    assert np.count_nonzero(point.second_derivatives) > problem.rows.count // 3
    assert select_working_set(problem, point, Settings()) is None


def test_scores_of_a_working_set_are_refined_in_row_space() -> None:
    """More columns than rows and a mean of 1e5: scores in row space are inexact, and a working set holds some of the rows."""
    random = np.random.default_rng(0)
    X = 1e5 + random.normal(size=(80, 4)) @ random.normal(size=(4, 100))
    problem = dg.Problem(X, np.where(random.normal(size=80) > 0.0, 1.0, -1.0), "hinge", 1e-3, intercept=True)
    state = continuation.start(problem, None, 1e-9, replace(Settings(), few_rows=10))
    refined = 0
    for _ in range(60):
        state = state.advance()
        current = state.phase.current
        assert current.point.scores.size == current.sub.count
        refined += state.refinement is not None and isinstance(state.phase, continuation.OnWorkingSet)
    assert refined > 0, "no working set was refined"


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_next_rows_counts_the_rows_of_the_next_subsample(loss: str) -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(4000, 2))
    problem = dg.Problem(X, np.where(X[:, 0] + random.normal(size=4000) > 0.0, 1.0, -1.0), loss, 1e-3)
    settings = replace(Settings(), few_rows=20, subsample_growth=4)
    start = (continuation if loss == "hinge" else smooth).start
    state, counts = start(problem, None, 1e-9, settings), []
    while state.next_rows < problem.rows.count:
        expected = state.next_rows
        state = state.advance()
        sub = state.phase.current.sub if loss == "hinge" else state.phase.sub
        assert sub.count == expected
        counts.append(expected)
    assert len(set(counts)) > 2, "several subsamples were used"
