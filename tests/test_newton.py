"""Newton with continuation: exact where the loss is smooth, right on badly scaled data, and on few rows with many columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.solvers.newton import solver
from dualgap.solvers.newton.row_space import row_space
from examples import small_problem
from independent import optimum

SMOOTH = [name for name, loss in dg.LOSSES.items() if not loss().has_kink]


@pytest.mark.parametrize("loss", list(dg.LOSSES))
@pytest.mark.parametrize("intercept", [False, True])
def test_it_reaches_the_independent_optimum(loss: str, intercept: bool) -> None:
    problem = small_problem(loss, "csr", True, intercept)
    result = dg.solve(problem, "newton", tol=1e-10, max_epochs=200)
    assert result.status is dg.Status.CERTIFIED
    best = optimum(problem)
    assert abs(result.certificate.primal - best) <= 1e-8 * best


@pytest.mark.parametrize("loss", SMOOTH)
def test_smooth_losses_need_few_steps(loss: str) -> None:
    result = dg.solve(small_problem(loss, "dense", True, True), "newton", tol=1e-12)
    assert result.trace[-1].epoch <= (1 if loss == "squared" else 10)


def test_raw_features_are_no_trouble() -> None:
    """Unscaled breast cancer, where coordinate ascent is stuck after a thousand epochs."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    problem = dg.Problem(X, y, "hinge", 1.0 / 569)
    assert dg.solve(problem, "newton", tol=1e-8).status is dg.Status.CERTIFIED
    assert dg.solve(problem, "sdca", tol=1e-2).status is dg.Status.EPOCHS_EXHAUSTED


SCALES = {
    "tiny": lambda X: X * 1e-6,
    "huge": lambda X: X * 1e6,
    "one column 1e8 times the others": lambda X: X * [1.0, 1e8, 1.0, 1.0],
    "all columns equal": lambda X: np.repeat(X[:, :1], 4, axis=1),
    "three rows": lambda X: X[:3],
    "repeated rows": lambda X: np.repeat(X[:10], 6, axis=0),
}


@pytest.mark.parametrize("case", list(SCALES))
@pytest.mark.parametrize("loss", ["hinge", "logistic", "absolute", "squared"])
@pytest.mark.parametrize("intercept", [False, True])
def test_badly_scaled_data_is_certified(case: str, loss: str, intercept: bool) -> None:
    rng = np.random.default_rng(2)
    X = SCALES[case](rng.normal(size=(60, 4)))
    y = np.resize([1.0, -1.0, 1.0, 1.0, -1.0], X.shape[0]) + (
        rng.normal(size=X.shape[0]) if loss in ("absolute", "squared") else 0
    )
    result = dg.solve(dg.Problem(X, y, loss, 1.0 / X.shape[0], intercept=intercept), "newton", tol=1e-6)
    assert result.status is dg.Status.CERTIFIED


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge"])
def test_separable_classes_with_almost_no_penalty_are_certified(loss: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    y = np.sign(X[:, 0])
    X[:, 0] += y
    result = dg.solve(dg.Problem(X, y, loss, 1e-12 / 40), "newton", tol=1e-6)
    assert result.status in (dg.Status.CERTIFIED, dg.Status.STALLED)
    assert np.isfinite(result.certificate.gap)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "epsilon_insensitive"])
@pytest.mark.parametrize("intercept", [False, True])
def test_few_rows_of_many_columns_are_certified(form, loss: str, intercept: bool) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(15, 80))
    X[3], X[5] = 0.0, X[6]
    y = np.resize([1.0, -1.0, -1.0], 15) if dg.LOSSES[loss].task == "classification" else rng.normal(size=15)
    problem = dg.Problem(form(X), y, loss, 1e-2, intercept=intercept)
    result = dg.solve(problem, "newton", tol=1e-9)
    assert result.status is dg.Status.CERTIFIED
    other = dg.solve(problem, "sdca", tol=1e-8, max_epochs=20_000)
    assert result.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-7)


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1e200])
@pytest.mark.parametrize("solver", ["newton", "sdca", "sgd", "subgradient", "box_ascent", "asdca", "projected_ascent"])
def test_a_common_factor_of_all_weights_changes_nothing(solver: str, scale: float) -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30, 3))
    y, s = np.sign(X[:, 0] + rng.normal(size=30)), rng.uniform(0.1, 2.0, 30)
    plain, scaled = (
        dg.solve(dg.Problem(X, y, "hinge", 1e-2, sample_weight=s * factor), solver, tol=1e-4, max_epochs=100)
        for factor in (1.0, scale)
    )
    assert scaled.status is plain.status
    assert scaled.certificate.primal == pytest.approx(plain.certificate.primal, rel=1e-9)
    assert scaled.certificate.dual == pytest.approx(plain.certificate.dual, rel=1e-9)


@pytest.mark.parametrize("columns", [20, 3000])
@pytest.mark.parametrize("repeats", [False, True])
def test_row_space_keeps_scores_and_norms(columns: int, repeats: bool) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(6, columns)) / np.sqrt(columns)
    if repeats:
        X[2] = X[1]
    problem = dg.Problem(X, [1, -1, 1, -1, 1, -1], "hinge", 0.1)
    space = row_space(problem)
    inner = space.reduced
    # A row that repeats another spans no direction of its own.
    assert inner.rows.dimension == 6 - repeats
    np.testing.assert_allclose(inner.rows.gram(), X @ X.T, atol=1e-12)
    u = rng.normal(size=inner.rows.dimension)
    w = space.from_row_space(u)
    np.testing.assert_allclose(X @ w, inner.rows.scores(u), atol=1e-12)
    assert np.linalg.norm(w) == pytest.approx(np.linalg.norm(u))
    np.testing.assert_allclose(space.to_row_space(w), u, atol=1e-12)
    narrow = dg.Problem(X.T, np.resize([1, -1], columns), "hinge", 0.1)
    space = row_space(narrow)
    assert space.is_identity
    assert space.reduced is narrow


def test_a_warm_start_at_the_solution_costs_a_step_or_two() -> None:
    problem = small_problem("hinge", "dense", True, True)
    good = dg.solve(problem, "newton", tol=1e-8)
    again = dg.solve(problem, "newton", tol=1e-7, start=good)
    assert again.status is dg.Status.CERTIFIED
    assert again.trace[-1].epoch <= 2.0


def test_a_start_far_from_the_path_is_left_for_its_beginning() -> None:
    random = np.random.default_rng(5)
    problem = dg.Problem(random.normal(size=(300, 20)), np.resize([1, -1], 300), "hinge", 1e-6)
    far = dg.solve(problem, "sdca", max_epochs=2)
    near = dg.solve(problem, "newton", tol=1e-2)
    assert near.certificate.gap < problem.baseline / 16.0 < far.certificate.gap
    cold, from_far, from_near = (dg.solve(problem, "newton", tol=1e-6, start=start) for start in (None, far, near))
    np.testing.assert_array_equal(from_far.weights, cold.weights)
    assert from_far.trace[-1].epoch == cold.trace[-1].epoch
    assert from_near.trace[-1].epoch < cold.trace[-1].epoch


def test_a_start_beyond_the_range_of_float64_is_left() -> None:
    X = 10.0 * np.random.default_rng(6).normal(size=(60, 8))
    problem = dg.Problem(X, np.resize([1, -1], 60), "hinge", 1e-2)
    cold = dg.solve(problem, "newton", tol=1e-6)
    huge = np.resize([1e308, -1e308], cold.weights.size)
    with np.errstate(over="ignore", invalid="ignore"):
        again = dg.solve(problem, "newton", tol=1e-6, start=replace(cold, weights=huge))
    assert again.status is dg.Status.CERTIFIED
    np.testing.assert_array_equal(again.weights, cold.weights)


def test_too_many_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "available_bytes", lambda: 100)
    monkeypatch.setattr(solver, "ALWAYS_FREE", 0)
    with pytest.raises(ValueError, match=r"newton needs .* GiB .* use sdca"):
        dg.solve(small_problem("hinge"), "newton")
