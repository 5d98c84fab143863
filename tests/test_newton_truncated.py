"""Truncated Newton: products against slow twins, conjugate residuals against dense algebra, and the preconditioner."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse

import dualgap as dg
import reference
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.kernels import products
from dualgap.linalg.krylov import Operator, Solution, conjugate_residuals
from dualgap.linalg.parallel import use_threads
from dualgap.linalg.partition import PartitionSettings
from dualgap.solvers.newton import truncated
from dualgap.solvers.newton.preconditioner import importance_sample, sample_preconditioner
from dualgap.solvers.newton.products import hessian
from dualgap.solvers.newton.settings import Settings
from examples import FORMS, small_problem

pytestmark = pytest.mark.kernels


@pytest.fixture
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small rows are partitioned as large ones are."""
    monkeypatch.setattr("dualgap.linalg.partition.SETTINGS", PartitionSettings(slice_values=8))


def solve(
    rows: Rows, hessian_weights: np.ndarray, strength: float, gradient: np.ndarray, target: float, limit: int,
    intercept: bool = False, preconditioner: Operator | None = None,
) -> Solution:  # fmt: skip
    """Newton's direction by conjugate residuals."""
    product = hessian(rows, hessian_weights, strength, intercept)
    return conjugate_residuals(product, -gradient, target, limit, rows.count, preconditioner)


def hessian_weights_of(problem: dg.Problem) -> np.ndarray:
    """q_i φ″_i at a point that is no special one."""
    scores = np.linspace(-2.0, 2.0, problem.rows.count)
    sample_weight = 1.0 if problem.sample_weight is None else problem.sample_weight
    return problem.loss.second_derivative(scores, problem.labels) * sample_weight / problem.total_weight


def dense_hessian(problem: dg.Problem, hessian_weights: np.ndarray) -> np.ndarray:
    X = reference.plain(problem).X
    if problem.intercept:
        X = np.column_stack([X, np.ones(X.shape[0])])
    penalty = np.full(X.shape[1], problem.strength)
    if problem.intercept:
        penalty[-1] = 0.0
    return np.diag(penalty) + X.T @ (hessian_weights[:, None] * X)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernels_equal_their_twins(form: str, dtype: type) -> None:
    problem = small_problem("logistic", form, dtype=dtype)
    X, random = reference.plain(problem).X, np.random.default_rng(3)
    rows, begin, end = problem.rows.arrays, np.uint64(4), np.uint64(19)
    vector, factors = random.normal(size=5), random.random(24)
    factors[7] = 0.0
    scores, score_direction = np.full(24, np.nan), np.full(24, np.nan)
    combined, out = np.ones(5), np.ones(5)
    products.score_rows(rows, begin, end, vector, scores)
    products.combine_rows(rows, begin, end, factors, combined)
    products.hessian_rows(rows, begin, end, factors, vector, 0.25, score_direction, out)
    np.testing.assert_allclose(scores[4:19], X[4:19] @ vector, rtol=1e-13, atol=1e-14)
    assert np.isnan(np.delete(scores, np.arange(4, 19))).all()
    np.testing.assert_allclose(combined, 1.0 + X[4:19].T @ factors[4:19], rtol=1e-13)
    read = np.setdiff1d(np.arange(4, 19), [7])
    np.testing.assert_allclose(score_direction[read], X[read] @ vector + 0.25, rtol=1e-13, atol=1e-14)
    assert np.isnan(np.delete(score_direction, read)).all(), "a row of weight zero in the Hessian is not read"
    np.testing.assert_allclose(out, 1.0 + X[read].T @ (factors[read] * (X[read] @ vector + 0.25)), rtol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_partition_covers_the_rows(form: str, many_parts: None) -> None:
    rows = small_problem("logistic", form).rows
    parts = rows.partition
    assert len(parts) > 4
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
    assert parts[-1].stop == rows.count


@pytest.mark.parametrize("form", FORMS)
def test_no_bit_depends_on_the_threads(form: str, many_parts: None) -> None:
    problem = small_problem("logistic", form, intercept=True)
    hessian_weights, gradient = hessian_weights_of(problem), np.linspace(-1.0, 1.0, 6)
    found = []
    for jobs in (1, 3):
        with use_threads(jobs):
            pre = sample_preconditioner(problem.rows, hessian_weights, problem.strength, 12, True)
            found.append(solve(problem.rows, hessian_weights, problem.strength, gradient, 0.0, 3, True, pre))
    assert found[0].solution.tobytes() == found[1].solution.tobytes()
    assert found[0].by_products.tobytes() == found[1].by_products.tobytes()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("sampled", [False, True])
def test_the_direction_is_that_of_dense_algebra(
    form: str, weights: bool, intercept: bool, loss: str, sampled: bool, many_parts: None
) -> None:
    problem = small_problem(loss, form, weights, intercept)
    hessian_weights = hessian_weights_of(problem)
    matrix = dense_hessian(problem, hessian_weights)
    gradient = np.linspace(-1.0, 0.5, matrix.shape[0])
    rows, strength = problem.rows, problem.strength
    pre = sample_preconditioner(rows, hessian_weights, strength, 12, intercept) if sampled else None
    found = solve(rows, hessian_weights, strength, gradient, 1e-11, 40, intercept, pre)
    np.testing.assert_allclose(found.solution, np.linalg.solve(matrix, -gradient), rtol=1e-7, atol=1e-9)
    shift = found.solution[-1] if intercept else 0.0
    score_direction = reference.plain(problem).X @ found.solution[: rows.dimension] + shift
    read = hessian_weights != 0.0
    np.testing.assert_allclose(found.by_products[read], score_direction[read], rtol=1e-7, atol=1e-9)
    assert found.residual == pytest.approx(np.linalg.norm(matrix @ found.solution + gradient), abs=1e-10)


def wide(count: int = 60, width: int = 40) -> tuple[Rows, np.ndarray]:
    random = np.random.default_rng(11)
    X = random.normal(size=(count, width)) * (random.random((count, width)) < 0.3) * np.logspace(0, 1, width)
    return as_rows(sparse.csr_matrix(X)), random.normal(size=width)


def test_residuals_only_fall_and_every_step_leads_downhill() -> None:
    rows, gradient = wide()
    hessian_weights = np.full(rows.count, 0.25 / rows.count)
    before, norm = float(np.linalg.norm(gradient)), float(np.linalg.norm(gradient))
    for limit in range(1, 30):
        found = solve(rows, hessian_weights, 1e-3, gradient, 0.0, limit)
        assert found.products == limit
        assert found.residual < before
        assert found.solution @ gradient < 0.0
        before = found.residual
    assert before < 0.1 * norm


def test_no_shorter_residual_is_in_the_span() -> None:
    rows, gradient = wide()
    hessian_weights = np.linspace(0.0, 0.25, rows.count) / rows.count
    dense = np.column_stack([rows.scores(unit) for unit in np.eye(rows.dimension)])
    matrix = 1e-3 * np.eye(rows.dimension) + dense.T @ (hessian_weights[:, None] * dense)
    krylov = np.column_stack([np.linalg.matrix_power(matrix, k) @ gradient for k in range(4)])
    shortest = np.linalg.lstsq(matrix @ krylov, -gradient, rcond=None)[1]
    found = solve(rows, hessian_weights, 1e-3, gradient, 0.0, 4)
    assert found.residual**2 == pytest.approx(float(shortest[0]), rel=1e-8)


def test_a_solve_ends_at_its_target() -> None:
    rows, gradient = wide()
    hessian_weights = np.full(rows.count, 0.25 / rows.count)
    target = 0.1 * float(np.linalg.norm(gradient))
    found = solve(rows, hessian_weights, 1e-3, gradient, target, 100)
    assert found.residual <= target
    assert solve(rows, hessian_weights, 1e-3, gradient, 0.0, found.products - 1).residual > target
    assert solve(rows, hessian_weights, 1e-3, np.zeros(rows.dimension), 0.0, 9).products == 1


def test_a_sample_of_all_rows_solves_in_a_few_products() -> None:
    rows, gradient = wide(400, 20)
    hessian_weights = np.linspace(0.01, 0.25, rows.count) / rows.count
    target = 1e-6 * float(np.linalg.norm(gradient))
    plain = solve(rows, hessian_weights, 1e-5, gradient, target, 500)
    pre = sample_preconditioner(rows, hessian_weights, 1e-5, 200)
    helped = solve(rows, hessian_weights, 1e-5, gradient, target, 500, preconditioner=pre)
    np.testing.assert_allclose(helped.solution, plain.solution, rtol=1e-3, atol=1e-4 * np.abs(plain.solution).max())
    assert helped.products < 0.7 * plain.products


def test_an_importance_sample_keeps_the_total_importance() -> None:
    importance = np.array([0.0, 3.0, 1.0, 0.0, 4.0, 8.0, 0.0])
    numbers, counts = importance_sample(importance, 6)
    assert importance[numbers].all()
    assert counts @ importance[numbers] == pytest.approx(importance.sum())
    for own in (np.full(50, 0.3), np.arange(50.0)):
        everything, once = importance_sample(own, 50)
        assert np.array_equal(everything, np.arange(50))
        assert np.array_equal(once, np.ones(50))


def test_where_nothing_is_curved_the_penalty_alone_is_inverted() -> None:
    rows, gradient = wide()
    pre = sample_preconditioner(rows, np.zeros(rows.count), 0.5, 10)
    np.testing.assert_array_equal(pre(gradient), gradient / 0.5)
    found = solve(rows, np.zeros(rows.count), 0.5, gradient, 0.0, 1)
    np.testing.assert_allclose(found.solution, -gradient / 0.5, rtol=1e-14)


def test_data_large_beside_the_hessian_is_preconditioned() -> None:
    rng = np.random.default_rng(17)
    X = rng.normal(size=(600, 8))
    problem = dg.Problem(X, np.sign(X @ rng.normal(size=8) + rng.normal(size=600)), "logistic", 1e-3)
    state = truncated.start(problem, None, 1e-12, Settings())
    hessian_weights = hessian_weights_of(problem)
    assert state._preconditioner(hessian_weights) is not None
    smaller = dataclasses.replace(state, settings=Settings(preconditioner_sizes=76))
    assert smaller._preconditioner(hessian_weights) is None


def test_truncated_run_is_certified_with_a_free_intercept() -> None:
    rng = np.random.default_rng(18)
    X = sparse.random(700, 400, 0.05, format="csr", random_state=rng)
    y = np.where(X @ rng.normal(size=400) + 0.1 * rng.normal(size=700) > 0.0, 1, -1)
    result = dg.solve(dg.Problem(X, y, "logistic", 1e-3, intercept=True), "newton", tol=1e-9)
    assert result.status is dg.Status.CERTIFIED


def test_preconditioner_serves_until_a_solve_takes_more_products_than_its_size() -> None:
    rng = np.random.default_rng(17)
    X = rng.normal(size=(600, 8))
    problem = dg.Problem(X, np.sign(X @ rng.normal(size=8) + rng.normal(size=600)), "logistic", 1e-5)
    state = truncated.start(problem, None, 1e-12, Settings(preconditioner_rows_per_column=2))
    kept = grown = 0
    for _ in range(8):
        before, state = state, state.advance()
        if state.preconditioner is None:
            assert state.next_size > before.next_size
            grown += 1
        else:
            kept += state.preconditioner is before.preconditioner
    assert kept > 0
    assert grown > 0
