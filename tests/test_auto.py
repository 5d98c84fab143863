"""What `auto` chooses, when it changes its mind, and that it says so."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.trace import Record


def normal(count: int, dimension: int, loss: str = "hinge", strength: float | None = None) -> dg.Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(count, dimension))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=count) > 0.0, 1, -1)
    return dg.Problem(X, y, loss, strength or 1.0 / count)


def record(epoch: float, relative_gap: float) -> Record:
    return Record(epoch, int(epoch), epoch, epoch, 1.0, 1.0 - relative_gap, relative_gap, relative_gap, 1, 1.0)


def test_small_smooth_problem_takes_newton() -> None:
    solver, reason = dg.Auto().choose(normal(400, 30, "logistic"), ())
    assert (solver, reason.split(":")[0]) == (dg.Newton(), "newton")
    assert "smooth" in reason


@pytest.mark.parametrize(
    ("count", "dimension", "loss"),
    [
        (2000, 100, "logistic"),
        (20_000, 60, "logistic"),
        (20_000, 5, "logistic"),
        (20, 30, "logistic"),
        (400, 5, "squared"),
    ],
)
def test_a_larger_smooth_problem_and_squares_take_newton(count: int, dimension: int, loss: str) -> None:
    solver, reason = dg.Auto().choose(normal(count, dimension, loss), ())
    assert (solver, reason.split(":")[0]) == (dg.Newton(), "newton")


@pytest.mark.parametrize(("count", "dimension", "word"), [(8000, 5, "columns"), (20, 60, "rows")])
def test_a_kink_with_one_small_side_takes_newton(count: int, dimension: int, word: str) -> None:
    solver, reason = dg.Auto().choose(normal(count, dimension), ())
    assert solver == dg.Newton()
    assert word in reason


def test_many_rows_a_column_take_newton_at_once() -> None:
    problem = normal(50_000, 50)
    assert dg.Auto().choose(problem, ())[0] == dg.Newton()
    assert dg.Auto().choose(normal(3_000, 50), ())[0] == dg.SDCA(shrinking=True)
    sparse = dg.Problem(sp.csr_matrix(problem.rows.arrays[0]), problem.labels, "hinge", 1e-4)
    assert dg.Auto().choose(sparse, ())[0] == dg.SDCA(shrinking=True)


def test_a_dominant_column_takes_newton() -> None:
    problem = normal(400, 30)
    X = problem.rows.arrays[0] * np.where(np.arange(30) == 3, 100.0, 1.0)
    solver, reason = dg.Auto().choose(dg.Problem(X, problem.labels, "hinge", 1e-2), ())
    assert solver == dg.Newton()
    assert "one column holds" in reason


def test_large_and_sparse_with_a_kink_takes_sdca() -> None:
    X = sp.random(2000, 5000, 0.002, format="csr", random_state=np.random.default_rng(0))
    result = dg.solve(dg.Problem(X, np.resize([1, -1], 2000), "hinge", 1e-2), tol=1e-3)
    assert result.solver == dg.SDCA(shrinking=True)
    assert result.reason.startswith("sdca: ")
    assert result.status is dg.Status.CERTIFIED


@pytest.mark.parametrize(
    ("factor", "intercept", "name"), [(1.0, False, "sdca"), (1.0, True, "newton"), (1e-2, False, "newton")]
)
def test_large_and_sparse_with_a_smooth_loss_takes_sdca_where_the_penalty_is_strong(
    factor: float, intercept: bool, name: str
) -> None:
    X = sp.random(2000, 5000, 0.002, format="csr", random_state=np.random.default_rng(0))
    problem = dg.Problem(X, np.resize([1, -1], 2000), "logistic", factor / 2000, intercept=intercept)
    result = dg.solve(problem, tol=1e-6)
    assert result.solver.name == name
    assert result.reason.startswith(f"{name}: the loss is smooth")
    assert result.status is dg.Status.CERTIFIED


def test_dual_steps_whose_gap_goes_up_once_are_not_left() -> None:
    problem = normal(400, 30)
    seen = [record(7.7, 1.2e-3), record(9.2, 1.7e-3)]
    assert dg.Auto().choose(problem, seen, 1e-3)[0] == dg.SDCA(shrinking=True)


def test_slow_dual_steps_are_left_for_newton() -> None:
    problem = normal(400, 30)
    quick, slow = [record(20.0, 1e-5)], [record(20.0, 6e-1), record(36.0, 5e-1)]
    assert dg.Auto().choose(problem, (), 1e-6)[0] == dg.SDCA(shrinking=True)
    assert dg.Auto().choose(problem, quick, 1e-6)[0] == dg.SDCA(shrinking=True)
    solver, reason = dg.Auto().choose(problem, slow, 1e-6)
    assert solver == dg.Newton()
    assert reason.startswith("sdca, then newton: after 36 epochs")


def test_auto_changes_the_solver_in_a_run_and_ends_certified() -> None:
    result = dg.solve(normal(600, 40, strength=1e-6), tol=1e-8)
    assert result.status is dg.Status.CERTIFIED
    assert result.reason.startswith(("sdca, then newton", "sdca:"))
    assert result.solver.name in result.reason


def test_a_large_estimated_gap_brings_the_first_certificate_sooner() -> None:
    rarely = float("inf")
    far = dg.solve(normal(6000, 40, strength=1e-5), tol=1e-8, record_every=rarely)
    near = dg.solve(normal(6000, 40, strength=1e-3), tol=1e-8, record_every=rarely)
    assert far.reason.startswith("sdca, then newton")
    assert 5.0 <= far.trace[0].epoch < 7.0
    assert near.reason.startswith("sdca:")
    assert near.trace[0].epoch >= 12.0


def test_sdca_is_left_where_its_gap_does_not_fall() -> None:
    stuck = [record(20.0, 0.5), record(36.0, 0.5)]
    assert dg.Auto().choose(normal(400, 30), stuck, 1e-6)[0] == dg.Newton()


@pytest.mark.parametrize("loss", ["hinge", "logistic", "absolute", "squared_hinge"])
def test_the_same_bits_for_any_number_of_threads(loss: str) -> None:
    problem = normal(60_000, 24, loss)
    one, two, three = (dg.solve(problem, tol=1e-5, n_jobs=jobs) for jobs in (1, 2, 3))
    for other in (two, three):
        np.testing.assert_array_equal(one.weights, other.weights)
        np.testing.assert_array_equal(one.duals, other.duals)
        assert one.certificate == other.certificate


def test_n_jobs_is_a_whole_number() -> None:
    with pytest.raises(ValueError, match="n_jobs needs to be a whole number other than 0, got 0"):
        dg.solve(normal(30, 3), n_jobs=0)
    assert dg.solve(normal(30, 3), n_jobs=-1).status is dg.Status.CERTIFIED
