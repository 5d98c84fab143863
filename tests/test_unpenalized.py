"""C=inf, alpha=0 and penalty=None: fits without a penalty, what certifies them, and the note where a tiny one stands in."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import dualgap as dg


def diabetes() -> tuple[np.ndarray, np.ndarray]:
    return load_diabetes(return_X_y=True)


def fitted_with_note(model: Any, X: Any, y: Any) -> tuple[Any, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    (found,) = caught
    assert found.category is dg.ParameterNote
    assert found.filename == __file__
    return model, str(found.message)


@pytest.mark.parametrize(
    "options", [{"C": np.inf}, {"penalty": None}, {"penalty": "none"}, {"penalty": None, "C": 3.0}]
)
def test_logistic_regression_without_penalty_has_scikit_learns_weights(options: dict[str, Any]) -> None:
    X, y = diabetes()
    classes = y > 140
    theirs = linear_model.LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10).fit(X, classes)
    ours, said = fitted_with_note(dg.LogisticRegression(**options, tol=1e-9), X, classes)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3)
    assert ours.status_ is dg.Status.CERTIFIED
    assert f"a tiny one, λ = {ours.strength_:.3g}, and the certificate is of that problem" in said


def test_separable_classes_without_penalty_are_certified() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for model in (dg.LogisticRegression(C=np.inf), dg.LinearSVC(C=np.inf), dg.LinearSVC(loss="hinge", C=np.inf)):
        fitted, _ = fitted_with_note(model, X, y)
        assert fitted.status_ is dg.Status.CERTIFIED
        assert fitted.score(X, y) == 1.0


def test_softmax_model_without_penalty_is_certified() -> None:
    model, said = fitted_with_note(dg.LogisticRegression(penalty=None), *load_iris(return_X_y=True))
    assert model.status_ is dg.Status.CERTIFIED
    assert f"λ = {model.strength_:.3g}" in said


def test_note_has_the_range_of_several_strengths() -> None:
    X, y = load_iris(return_X_y=True)
    _, said = fitted_with_note(dg.LinearSVC(C=np.inf, class_weight={0: 3.0}), X, y)
    assert "λ from " in said


def test_quantile_regressor_without_penalty_has_scikit_learns_loss() -> None:
    X, y = diabetes()
    theirs = linear_model.QuantileRegressor(quantile=0.8, alpha=0.0).fit(X, y)
    ours, _ = fitted_with_note(dg.QuantileRegressor(quantile=0.8, alpha=0.0, tol=1e-7), X, y)
    loss = dg.Quantile(0.8)
    costs = [loss.value(model.predict(X), y).mean() for model in (ours, theirs)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-5)


def test_partial_fit_without_penalty_is_refused() -> None:
    X, y = diabetes()
    with pytest.raises(ValueError, match="partial_fit needs a penalty, got none; pass strength="):
        dg.LinearSVC(C=np.inf, solver="pegasos").partial_fit(X, y > 140, classes=[False, True])


def test_strength_and_no_penalty_are_refused_together() -> None:
    X, y = diabetes()
    with pytest.raises(ValueError, match=r"needs strength=None where penalty is None, got 0.1; leave one out"):
        dg.LogisticRegression(penalty=None, strength=0.1).fit(X, y > 140)
