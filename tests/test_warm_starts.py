"""Starts that are far off: second-order steps go down from anywhere, and a start worse than zero weights is replaced by them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import dualgap as dg
from dualgap.linalg.line_search import bracket, is_lower
from dualgap.linalg.root_finding import slope_root
from dualgap.solvers.newton import smooth

SOLVERS = ["newton"]


def far_start(seed: int) -> tuple[np.ndarray, np.ndarray, float, tuple[np.ndarray, float, None]]:
    """Rows, labels, a strength, and a start whose scores are hundreds away from the labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(20, 300)), 5)) * 10 ** rng.uniform(-1, 1)
    y = np.where(X[:, 0] + rng.normal(size=X.shape[0]) > 0.0, 1.0, -1.0)
    weights = rng.normal(size=5) * 10 ** rng.uniform(1.5, 2.5)
    return X, y, 10 ** rng.uniform(-1, 1), (weights, float(30 * rng.normal()), None)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("is_replaced", [True, False])
def test_logistic_newton_arrives_from_far_starts(
    solver: str, intercept: bool, seed: int, is_replaced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With zero weights in place of such a start, and from the start itself."""
    if not is_replaced:
        monkeypatch.setattr(smooth, "primal_at_cold_start", lambda problem: np.inf)
    X, y, strength, start = far_start(seed)
    result = dg.solve(dg.Problem(X, y, "logistic", strength, intercept=intercept), solver, start=start, max_epochs=100)
    assert result.status is dg.Status.CERTIFIED


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_start_worse_than_zero_is_replaced_by_zero(solver: str, loss: str) -> None:
    X, y, _, _ = far_start(3)
    problem = dg.Problem(X, y, loss, 0.1, intercept=True)
    seen: list[dg.Record] = []
    warm = dg.solve(problem, solver, start=(np.full(5, 100.0), 0.0, None), callback=seen.append)
    assert seen[0].primal <= problem.primal_at_zero
    assert np.array_equal(warm.weights, dg.solve(problem, solver, callback=lambda record: None).weights)


@pytest.mark.parametrize("solver", SOLVERS)
def test_start_better_than_zero_is_kept(solver: str) -> None:
    X, y, _, _ = far_start(3)
    problem = dg.Problem(X, y, "logistic", 0.1, intercept=True)
    good = dg.solve(problem, solver, tol=1e-9)
    again = dg.solve(problem, solver, tol=1e-6, start=(good.weights, good.intercept, None))
    assert again.trace[-1].epoch == 0


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("size", [1.0, 300.0])
@pytest.mark.parametrize("seed", range(4))
def test_softmax_newton_arrives_from_any_start(intercept: bool, size: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, 5)), rng.integers(0, 3, 50)
    problem = dg.MultinomialProblem(X, y, 0.1, intercept=intercept)
    start = (size * rng.normal(size=(5, 3)), 10 * rng.normal(size=3), None)
    assert dg.solve(problem, "newton", start=start, max_epochs=60).status is dg.Status.CERTIFIED


@pytest.mark.parametrize("columns", [5, 80])
def test_softmax_newton_removes_what_all_classes_have_in_common(columns: int) -> None:
    rng = np.random.default_rng(0)
    problem = dg.MultinomialProblem(rng.normal(size=(50, columns)), rng.integers(0, 3, 50), 0.1)
    cold = dg.solve(problem, "newton", tol=1e-9)
    warm = dg.solve(problem, "newton", tol=1e-9, start=(cold.weights + 0.1, None, None))
    assert warm.status is dg.Status.CERTIFIED
    assert warm.trace[-1].epoch == 0
    ones = dg.solve(problem, "newton", start=(np.ones((columns, 3)), None, None))
    assert ones.status is dg.Status.CERTIFIED


def test_step_over_a_kink_may_end_higher() -> None:
    """Slope −1 at 0, +0.05 from 0.01 on: at t = 1 the slope is small and the function higher than at 0."""
    known = bracket(-1.0)
    assert not is_lower(known, 1.0, 0.05, 0.0)
    assert is_lower(known, 1.0, -0.05, 0.0)
    assert is_lower(known, 1.0, 0.05, 1.05)  # a parabola
    assert is_lower(known._replace(low=0.5, slope_low=-0.1), 1.0, 0.05, 0.0)


def test_root_is_found_behind_a_flat_stretch() -> None:
    """At 400 the second derivative is 1e-174: Newton's step leads to −1e173, from where halving alone would not come back."""

    def slope(b: float) -> tuple[float, float]:
        return float(expit(b)) - 0.25, 1.0

    def second_derivative(b: float) -> float:
        return float(np.exp(-abs(b)) / (1.0 + np.exp(-abs(b))) ** 2)

    assert slope_root(slope, second_derivative, 400.0) == pytest.approx(np.log(1 / 3))


@pytest.mark.parametrize("labels", [[-1, 1], [1, -1]])
@pytest.mark.parametrize("loss", ["squared_hinge", "smoothed_hinge"])
def test_best_constant_is_right_to_the_last_bit_where_a_weight_decides(loss: str, labels: list[int]) -> None:
    """One bit beside b = ±1 a constant costs 1e-32, at it 1e-290; the reference of the relative gap is 1e-12 of that cost."""
    problem = dg.Problem(np.eye(2), labels, loss, 1e-3, sample_weight=[1.0, 1e290], intercept=True)
    assert problem.baseline < 1e-289
