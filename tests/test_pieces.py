"""Newton on samples and on the rows near a kink: few rows are touched, and the answer is that of all of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.solvers.pieces import nearest, sample, samples, whole


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
def test_the_answer_is_that_of_all_rows(loss: str, form, intercept: bool) -> None:
    problem = problem_of(loss, form, intercept, weights=intercept)
    result = dg.solve(problem, "newton", tol=1e-8)
    assert result.status is dg.Status.CERTIFIED
    # Most steps touch a part of the rows: fewer epochs than steps.
    assert result.trace[-1].epoch < 0.7 * result.trace[-1].updates


def test_samples_grow_and_small_data_has_none() -> None:
    assert samples(problem_of("hinge", count=3000)) == []
    strides = samples(problem_of("hinge", count=600_000))
    assert strides == sorted(strides, reverse=True)
    assert len(strides) == 2
    piece = sample(problem_of("hinge", weights=True), 3)
    assert piece.rows.count == 4000
    assert piece.shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_a_piece_has_the_gradient_of_all_rows(loss: str, form) -> None:
    problem = problem_of(loss, form, weights=True)
    w = np.random.default_rng(2).normal(size=6)
    scores = problem.rows.scores(w)
    duals = problem.loss.dual_candidate(scores, problem.labels)
    everything = whole(problem)
    combination = problem.rows.combination(everything.shares * duals)
    curved = np.zeros(problem.rows.count, dtype=bool)
    curved[::1000] = True
    piece = nearest(problem, scores, duals, curved, combination, 1500)
    assert piece is not None
    assert piece.picked is not None
    assert np.isin(np.flatnonzero(curved), piece.picked).all()
    own = piece.rows.combination(piece.shares * duals[piece.picked])
    np.testing.assert_allclose(piece.pull + own, combination, atol=1e-12)
    assert piece.pull_intercept + piece.shares @ duals[piece.picked] == pytest.approx(problem.mean(duals))
    left_out = np.delete(np.arange(problem.rows.count), piece.picked)
    kinks = problem.loss.kinks(problem.labels)
    assert min(np.abs(scores - kink)[left_out].min() for kink in kinks) >= piece.radius


def test_most_rows_are_no_piece() -> None:
    problem = problem_of("hinge")
    zeros = np.zeros(problem.rows.count)
    assert nearest(problem, zeros, zeros, zeros > 0.0, np.zeros(6), 5000) is None
