"""The guarded Cholesky factor: it solves what is positive definite, and never fails on what rounding made indefinite."""

from __future__ import annotations

import numpy as np
import pytest

import dualgap as dg
from dualgap.linalg import cholesky


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_positive_definite_system_is_solved(scale: float) -> None:
    root = np.random.default_rng(0).normal(size=(6, 6))
    matrix = scale * (root @ root.T + np.eye(6))
    right = np.arange(6.0)
    assert np.allclose(matrix @ cholesky.solver(matrix)(right), right)


def test_rank_deficient_matrix_gets_jitter() -> None:
    step = cholesky.solver(np.ones((5, 5)))(np.ones(5))
    assert np.isfinite(step).all()
    assert np.ones(5) @ step > 0.0


def test_matrix_that_is_not_finite_ends_with_its_diagonal() -> None:
    matrix = np.diag([1.0, 4.0])
    matrix[1, 0] = matrix[0, 1] = np.nan
    assert np.array_equal(cholesky.solver(matrix)(np.ones(2)), [1.0, 0.25])


def test_softmax_newton_survives_powers_of_a_column() -> None:
    """60 powers of one column: every Hessian is singular to rounding."""
    rng = np.random.default_rng(0)
    X, y = np.vander(rng.uniform(-1.5, 1.5, 100), 60), rng.integers(0, 3, 100)
    result = dg.solve(dg.MultinomialProblem(X, y, 1e-2, intercept=True), max_epochs=40)
    assert result.status is not dg.Status.BROKEN
    assert result.certificate.primal < 0.78
