"""Data at the edges: nothing crashes, hangs or returns NaN; it works, is refused, or ends with a status."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=20) > 0, 1.0, -1.0)
ONE_COLUMN, ONE_ROW = np.array([1.0, 1e100, 1.0]), np.where(np.arange(20) == 0, 1e100, 1.0)[:, None]

EXTREMES = {
    **{f"values times {scale:g}": (X * scale, Y) for scale in (1e100, 1e-100, 1e150, 1e-150, 1e-300, 1e6)},
    "one huge column": (X * ONE_COLUMN, Y),
    "one tiny column": (X / ONE_COLUMN, Y),
    "one huge row": (X * ONE_ROW, Y),
    "all zeros": (np.zeros((6, 2)), np.array([1, 1, -1, 1, -1, -1.0])),
    "two rows": (np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([1.0, -1.0])),
    "one row": (X[:1], Y[:1]),
    "one column": (X[:, :1], Y),
    "constant columns": (np.ones((20, 4)), Y),
    "equal rows": (np.repeat(X[:1], 20, axis=0), Y),
    "sparse and huge": (sp.csr_matrix(X * 1e100), Y),
    "sparse and empty": (sp.csr_matrix((20, 3)), Y),
    "huge targets": (X, Y * 1e100),
    "too huge targets": (X, Y * 1e200),
    "tiny targets": (X, Y * 1e-100),
    "zero targets": (X, Y * 0.0),
}
SOLVERS = ["sdca", "sdca(first_epoch=sgd)", "asdca", "pegasos", "pegasos(projection=true)", "sgd"]
SOLVERS += ["subgradient", "projected_ascent", "box_ascent", "newton", "sgd(schedule=constant, step=100)"]


@pytest.mark.parametrize("case", list(EXTREMES))
@pytest.mark.parametrize("loss", list(dg.LOSSES))
def test_extreme_data_is_fitted_or_refused(case: str, loss: str) -> None:
    rows, labels = EXTREMES[case]
    for strength in (1e-2, 1e-12, 1e8):
        for intercept in (False, True):
            for solver in SOLVERS:
                try:
                    problem = dg.Problem(rows, labels, loss, strength, intercept=intercept)
                    result = dg.solve(problem, solver, max_epochs=8)
                except ValueError as refusal:
                    assert "\n" not in str(refusal)
                    continue
                numbers = [*result.weights, *result.duals, result.intercept]
                c = result.certificate
                assert np.isfinite([*numbers, c.primal, c.dual, c.gap, c.relative_gap]).all()
                assert c.gap >= 0 or result.status is dg.Status.BROKEN
                assert result.status is not dg.Status.BROKEN or "step=100" in solver


@pytest.mark.parametrize("loss", list(dg.LOSSES))
@pytest.mark.parametrize("intercept", [False, True])
def test_auto_fits_sparse_rows_without_a_value(loss: str, intercept: bool) -> None:
    labels = np.where(np.arange(2000) % 3 > 0, 1.0, -1.0 if dg.LOSSES[loss].smallest_label < 0.0 else 0.0)
    problem = dg.Problem(sp.csr_matrix((2000, 50)), labels, loss, 1e-3, intercept=intercept)
    assert dg.solve(problem).status is dg.Status.CERTIFIED


@pytest.mark.parametrize("solver", ["sgd", "pegasos", "sgd(step=1e-300)"])
@pytest.mark.parametrize(("weight", "strength"), [(1e-310, 1e-2), (1.0, 1e-100)])
def test_steps_too_small_for_float64_are_no_error(solver: str, weight: float, strength: float) -> None:
    problem = dg.Problem(X, Y, "hinge", strength, sample_weight=np.full(20, weight))
    assert np.isfinite(dg.solve(problem, solver, max_epochs=3).certificate.gap)


def test_one_row_of_a_regression_is_fitted() -> None:
    result = dg.solve(dg.Problem([[2.0]], [3.0], "squared", 1e-3), "sdca")
    assert result.status is dg.Status.CERTIFIED
    assert result.weights[0] == pytest.approx(2 * 2 * 3 / (2 * 4 + 1e-3))


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1.0, 1e6, 1e100])
def test_scaled_rows_and_strength_give_the_same_problem(scale: float) -> None:
    """X·c with λ·c² has the same scores at the optimum, hence the same value."""
    plain = dg.solve(dg.Problem(X, Y, "hinge", 1e-2), "sdca", tol=1e-8)
    scaled = dg.solve(dg.Problem(X * scale, Y, "hinge", 1e-2 * scale**2), "sdca", tol=1e-8)
    assert scaled.status is dg.Status.CERTIFIED
    assert scaled.certificate.primal == pytest.approx(plain.certificate.primal, rel=1e-7)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [5e-324, 1e308])
@pytest.mark.parametrize("name", ["LinearSVC", "Ridge", "RidgeClassifier", "HuberRegressor", "LinearSVRCV"])
def test_weights_that_leave_no_finite_strength_are_refused_as_weights(name: str, weight: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.where(np.arange(30) % 3, -1.0, 1.0)
    with pytest.raises(ValueError, match=r"multiply the weights by a constant|needs a positive finite sum"):
        getattr(dg, name)().fit(X, y, sample_weight=np.full(30, weight))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [0.0, 5e-324, 1e308])
def test_weights_of_blocks_that_leave_no_finite_strength_are_refused_as_weights(weight: float) -> None:
    X, y = np.eye(6), np.arange(6.0)
    with pytest.raises(ValueError, match=r"multiply the weights by a constant|needs a positive finite sum"):
        dg.Ridge().fit(dg.Blocks([(X, y, np.full(6, weight))]))
