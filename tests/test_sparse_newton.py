"""Newton on a working set: its quadratic models against a twin and their optimality conditions, and what its runs leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import dualgap as dg
from dualgap import kernels
from dualgap.solvers.sparse_newton.inner import Inner, Point, Smooth, overshoot, penalty_gap
from dualgap.solvers.sparse_newton.line_search import Step, line_search, penalty_slope
from dualgap.solvers.sparse_newton.quadratic import ColumnModel, DenseModel
from dualgap.solvers.sparse_newton.settings import SETTINGS
from dualgap.solvers.sparse_newton.working_set import WorkingSet, columns_as_rows, is_large
from examples import small_problem


def random_model(singular: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """A matrix of 12 columns, and a gradient."""
    random = np.random.default_rng(8)
    A = random.normal(size=(8 if singular else 30, 12))
    return A.T @ A, 10.0 * random.normal(size=12)


def twin_passes(matrix: np.ndarray, linear: np.ndarray, weights: np.ndarray, passes: int) -> np.ndarray:
    """Coordinate descent that computes every gradient anew, for a threshold of 2 and a ridge of 0.1."""
    u = weights.copy()
    for _ in range(passes):
        for j in range(u.size):
            rest = linear[j] + sum(matrix[j, k] * u[k] for k in range(u.size) if k != j)
            soft = np.sign(-rest) * max(abs(rest) - 2.0, 0.0)
            u[j] = soft / (matrix[j, j] + 0.1)
    return u


@pytest.mark.kernels
def test_passes_agree_with_their_twin() -> None:
    matrix, linear = random_model()
    start = np.linspace(-1.0, 1.0, 12)
    weights, gradient = start.copy(), matrix @ start + linear
    kernels.quadratic.coordinate_passes(matrix, 2.0, 0.1, 3, 0.0, gradient, weights)
    np.testing.assert_allclose(weights, twin_passes(matrix, linear, start, 3), atol=1e-12)
    np.testing.assert_allclose(gradient, matrix @ weights + linear, atol=1e-11)
    assert 0 < np.count_nonzero(weights) < 12


def column_models(form: str, intercept: bool) -> tuple[ColumnModel, DenseModel]:
    """The same quadratic model of 40 rows × 12 columns, by its columns and by its matrix; a few rows have no weight."""
    random = np.random.default_rng(13)
    X = random.normal(size=(40, 12)) * (random.random((40, 12)) < 0.6) + (1.0 if form == "dense" else 0.0)
    factors, start = random.random(40) * (random.random(40) < 0.9), np.linspace(-1.0, 1.0, 12)
    border, corner = (factors @ X, factors.sum()) if intercept else (np.zeros(12), 1.0)
    matrix = (X.T * factors) @ X - np.multiply.outer(border, border) / corner
    gradient = 10.0 * random.normal(size=12)
    problem = dg.Problem(sparse.csr_matrix(X) if form == "csr" else X, np.arange(40.0), "squared", 1.0)
    columns = columns_as_rows(problem.rows, np.arange(12))
    by_columns = ColumnModel(columns, factors, border, corner, 0.0, gradient, start, 2.0, 0.1)
    return by_columns, DenseModel(matrix, gradient, start, 2.0, 0.1)


@pytest.mark.kernels
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_passes_over_columns_are_those_over_the_matrix(form: str, intercept: bool) -> None:
    by_columns, by_matrix = column_models(form, intercept)
    for model in (by_columns, by_matrix):
        model.descend(3, 0.0)
    np.testing.assert_allclose(by_columns.weights, by_matrix.weights, atol=1e-11)
    support = np.flatnonzero(by_matrix.weights)
    assert 0 < support.size < 12
    np.testing.assert_allclose(by_columns.gradient_of(support), by_matrix.gradient_of(support), atol=1e-11)
    change = np.where(by_matrix.weights != 0.0, 0.3, 0.0)
    products = [model.product(change) for model in (by_columns, by_matrix)]
    rises = [
        model.rise(support, change[support], p) for model, p in zip((by_columns, by_matrix), products, strict=True)
    ]
    assert rises[0] == pytest.approx(rises[1])
    np.testing.assert_allclose(by_columns.minimize(1e-11), by_matrix.minimize(1e-11), atol=1e-7)


@pytest.mark.parametrize("singular", [False, True])
def test_the_least_of_a_model_meets_its_optimality_conditions(singular: bool) -> None:
    matrix, linear = random_model(singular)
    start = np.ones(12)
    u = DenseModel(matrix, matrix @ start + linear, start, 2.0, 0.1).minimize(1e-12)
    slope = matrix @ u + linear + 0.1 * u
    assert np.abs(slope[u == 0.0]).max(initial=0.0) <= 2.0 + 1e-9
    assert np.abs(slope + 2.0 * np.sign(u))[u != 0.0].max() < 1e-8


@pytest.mark.parametrize("ratio", [0.5, 1.0])
@pytest.mark.parametrize("loss", dg.LOSSES)
def test_no_line_search_ends_higher_than_it_began(loss: str, ratio: float) -> None:
    problem = small_problem(loss, "dense", True, True, 1e-3, l1_ratio=ratio)
    smooth = problem.with_loss(problem.loss.smoothed(1e-3)) if problem.loss.has_kink else problem
    inner = Inner(smooth, WorkingSet.of(smooth.rows, np.arange(5)), Smooth(smooth.loss, None))
    random = np.random.default_rng(12)
    lowered = 0
    for size in np.geomspace(1e-3, 1e3, 60):
        weights = random.normal(size=5) * (random.random(5) < 0.7)
        point = Point(weights, 0.1, smooth.scores(weights, 0.1))
        direction, shift = size * random.normal(size=5), size * random.normal()
        direction[0] = -weights[0]
        duals = smooth.suggested_duals(point.scores)
        gradient = -smooth.rows.combination(smooth.weighted(duals)) / smooth.total_weight
        slope = float(gradient @ direction) - smooth.mean(duals) * shift + penalty_slope(inner, weights, direction, 0.0)
        reached, part = line_search(inner, point, Step(direction, shift, slope))
        before, after = (smooth.primal(smooth.scores(p.weights, p.intercept), p.weights) for p in (point, reached))
        assert after < before or (part == 0.0 and reached is point)
        lowered += part > 0.0
    assert lowered > 10


@pytest.mark.parametrize("loss", ["hinge", "logistic", "quantile"])
def test_a_far_start_gives_nothing_worse_than_zero_weights(loss: str) -> None:
    problem = small_problem(loss, "dense", True, True, 1e-3, l1_ratio=1.0)
    result = dg.solve(problem, tol=1e-7, max_epochs=1, start=(np.full(5, 1e9), -1e9, None))
    assert result.certificate.primal <= problem.baseline * (1 + 1e-9)
    assert dg.solve(problem, tol=1e-7, start=(np.full(5, 1e9), -1e9, None)).status is dg.Status.CERTIFIED


def wide_problem(loss: str, ratio: float, form: str = "dense", strength_part: float = 0.1) -> dg.Problem:
    """60 rows × 400 columns, 5 of which matter; λ is a part of strength_max."""
    random = np.random.default_rng(9)
    X = random.normal(size=(60, 400))
    signal = X[:, :5] @ np.array([2.0, -1.5, 1.0, -1.0, 0.5]) + 0.3 * random.normal(size=60)
    y = np.where(signal > 0.0, 1, -1) if dg.LOSSES[loss].task == "classification" else signal
    X = sparse.csr_matrix(X * (random.random(X.shape) < 0.4)) if form == "csr" else X
    first = dg.Problem(X, y, loss, 1.0, intercept=True, l1_ratio=ratio)
    return dg.Problem(X, y, loss, strength_part * first.strength_max, intercept=True, l1_ratio=ratio)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("ratio", [0.5, 1.0])
@pytest.mark.parametrize("loss", ["logistic", "squared", "hinge", "quantile"])
def test_more_columns_than_rows(loss: str, ratio: float, form: str) -> None:
    problem = wide_problem(loss, ratio, form)
    result = dg.solve(problem, tol=1e-7, max_epochs=60)
    assert result.status is dg.Status.CERTIFIED
    assert 5 <= np.count_nonzero(result.weights) <= 100
    assert result.reason.startswith("sparse_newton")


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared", "hinge", "quantile"])
def test_a_working_set_with_a_large_hessian_is_fitted_by_its_columns(
    loss: str, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dualgap.solvers.sparse_newton.working_set.SETTINGS", replace(SETTINGS, few_columns=10))
    random = np.random.default_rng(14)
    X = sparse.csr_matrix(random.normal(size=(80, 300)) * (random.random((80, 300)) < 0.1))
    signal = X[:, :40].sum(axis=1).A1 + 0.3 * random.normal(size=80)
    y = np.where(signal > 0.0, 1, -1) if dg.LOSSES[loss].task == "classification" else signal
    problem = dg.Problem(X, y, loss, 2e-3, intercept=intercept, l1_ratio=0.9)
    result = dg.solve(problem, tol=1e-7, max_epochs=60)
    assert result.status is dg.Status.CERTIFIED
    assert is_large(problem.rows, np.count_nonzero(result.weights))


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_small_strength_on_more_columns_than_rows_interpolates(loss: str) -> None:
    problem = wide_problem(loss, 1.0, strength_part=1e-6)
    result = dg.solve(problem, tol=1e-4, max_epochs=80)
    assert result.status is dg.Status.CERTIFIED
    assert np.count_nonzero(result.weights) <= 60


def test_from_strength_max_on_no_column_has_a_weight() -> None:
    problem = wide_problem("logistic", 1.0, strength_part=1.0001)
    result = dg.solve(problem, tol=1e-9)
    assert result.status is dg.Status.CERTIFIED
    assert not result.weights.any()


def test_a_warm_start_takes_fewer_rounds() -> None:
    near, far = wide_problem("hinge", 1.0), wide_problem("hinge", 1.0, strength_part=0.095)
    cold = dg.solve(far, tol=1e-7)
    warm = dg.solve(far, tol=1e-7, start=dg.solve(near, tol=1e-7))
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=1e-6)
    assert warm.status is dg.Status.CERTIFIED


def test_the_bits_are_the_same_for_any_number_of_threads() -> None:
    problem = wide_problem("logistic", 0.5, "csr")
    one, two = (dg.solve(problem, tol=1e-8, n_jobs=n) for n in (1, 2))
    assert np.array_equal(one.weights, two.weights)


def test_estimates_of_the_penalty_gap_are_those_of_the_penalty() -> None:
    problem = wide_problem("logistic", 0.5)
    random = np.random.default_rng(10)
    w, x = random.normal(size=400), random.normal(size=400)
    expected = problem.penalty.value(w) + problem.penalty.conjugate(x) - w @ x
    assert penalty_gap(problem, w, x) == pytest.approx(expected)
    assert overshoot(problem, x) == 0.0
    assert overshoot(wide_problem("logistic", 1.0), 4.0 * x / np.abs(x).max()) == pytest.approx(0.75)


@pytest.mark.parametrize("loss", ["hinge", "quantile"])
def test_rounds_after_the_proof_leave_it_as_it_is(loss: str) -> None:
    problem = wide_problem(loss, 0.5)
    records = dg.solve(problem, "sparse_newton", tol=1e-9, record_every=30, max_epochs=60).trace.records
    assert records[-1].epoch == 30
    assert records[-1].relative_gap <= 1e-9


@pytest.mark.parametrize("ratio", [0.5, 1.0])
@pytest.mark.parametrize("loss", ["poisson", "squared"])
def test_targets_far_from_zero_do_not_hide_the_gap(loss: str, ratio: float) -> None:
    """Duals that do not sum to zero make P − D wrong by their sum times b."""
    random = np.random.default_rng(3)
    X = random.normal(size=(200, 6))
    y = np.round(np.exp(5.0 + 0.3 * (X @ [1.0, -1.0, 0.5, 0.0, 0.0, 0.0])))
    for strength in (0.1, 1.0, 10.0):
        problem = dg.Problem(X, y, loss, strength, intercept=True, l1_ratio=ratio)
        result = dg.solve(problem, "sparse_newton", tol=1e-6)
        assert result.status.name == "CERTIFIED"
        assert result.trace[-1].epoch <= 6
