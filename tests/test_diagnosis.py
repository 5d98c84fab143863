"""A ConvergenceWarning says why a fit is slow: scales of columns, a tiny penalty, a solver for rough answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import dualgap as dg
from dualgap.estimators.diagnosis import scale_ratio, short


def scaled() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def said(model: Any, X: Any, y: Any) -> str:
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    (found,) = caught
    return str(found.message)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_columns_of_different_scale_are_named(form: Any) -> None:
    X, y = scaled()
    X[:, 3] *= 1e6
    message = said(dg.LinearSVC(solver="sdca", max_iter=20), form(X), y)
    assert "columns differ by 1e6 in scale; use solver='auto' or StandardScaler, or raise max_iter, or tol" in message


def test_newton_is_not_told_to_use_auto() -> None:
    X, y = scaled()
    X[:, 3] *= 1e8
    assert "columns differ by 1e8 in scale; use StandardScaler, or" in said(
        dg.LogisticRegression(max_iter=1, tol=1e-12), X, y
    )


def test_newton_s_few_steps_are_not_blamed_on_scales_that_do_not_slow_it() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    assert scale_ratio(dg.Problem(X, y)) > 1e5
    assert said(dg.LogisticRegression(max_iter=1), X, y).endswith("after 1 epoch; raise max_iter, or tol")


def test_softmax_model_names_the_scale_of_columns() -> None:
    X, y = load_iris(return_X_y=True)
    message = said(dg.LogisticRegression(solver="sdca", max_iter=2), X * [1e-4, 1.0, 1.0, 1.0], y)
    assert "in scale; use solver='auto' or StandardScaler" in message


def test_tiny_penalty_is_named() -> None:
    X, y = scaled()
    message = said(dg.LinearSVC(solver="sdca", C=1e5, max_iter=20), X, y)
    assert "the penalty is nearly zero (λ = 2e-8), and steps on single rows need about 3e6 epochs" in message
    assert "use solver='newton' or a stronger penalty" in message


def test_slow_solver_is_named() -> None:
    message = said(dg.LinearSVC(solver="pegasos", max_iter=20), *scaled())
    assert "pegasos takes ten times the epochs, or more, for each further digit; use solver='auto'" in message


def test_no_reason_is_made_up_where_the_limit_alone_is_too_low() -> None:
    assert "epoch; raise max_iter, or tol" in said(dg.LinearSVC(solver="sdca", max_iter=1), *scaled())


def test_empty_columns_have_no_scale() -> None:
    X = np.array([[1.0, 0.0, 100.0], [-1.0, 0.0, 100.0]])
    assert scale_ratio(dg.Problem(X, [0, 1])) == pytest.approx(100.0)
    assert scale_ratio(dg.Problem(np.zeros((2, 1)), [0, 1])) == 1.0


def test_numbers_are_short() -> None:
    assert [short(value) for value in (1e6, 2.9e-12, 20.4, 1500.0)] == ["1e6", "3e-12", "20", "2e3"]
