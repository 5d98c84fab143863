"""C=inf, alpha=0 and penalty=None: fits without a penalty, what certifies them, and the note where a tiny one stands in."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import dualgap as dg
from dualgap.certificate.full_rank import full_rank


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


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_least_squares_of_full_rank_is_certified_without_a_penalty(fit_intercept: bool, sparse: bool) -> None:
    rng = np.random.default_rng(0)
    # Columns of very different scale and far from zero.
    X = rng.normal(size=(80, 5)) * 10.0 ** np.arange(-6, 4, 2) + [0.0, 0.0, 0.0, 1e4, -1e5]
    y = X @ (10.0 ** -np.arange(-6.0, 4.0, 2.0)) + rng.normal(size=80)
    weights = rng.uniform(0.5, 2.0, size=80)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = dg.Ridge(alpha=0, tol=1e-9, fit_intercept=fit_intercept).fit(
            sp.csr_matrix(X) if sparse else X, y, sample_weight=weights
        )
    # scikit-learn's LinearRegression drops the smallest column here; least squares of scaled columns does not.
    columns = np.column_stack([X - X.mean(axis=0), np.ones(80)]) if fit_intercept else X
    sizes = np.linalg.norm(columns, axis=0)
    roots = np.sqrt(weights)
    solution = np.linalg.lstsq(roots[:, None] * columns / sizes, roots * y, rcond=None)[0] / sizes
    np.testing.assert_allclose(ours.coef_, solution[:5], rtol=1e-5)
    assert ours.status_ is dg.Status.CERTIFIED
    assert ours.strength_ == 0.0
    assert "full rank" in ours.reason_
    residuals = y - columns @ solution
    assert ours.certificate_.primal == pytest.approx(np.average(residuals**2, weights=weights), rel=1e-9)


def test_gradient_bound_holds_at_any_weights() -> None:
    X, y = diabetes()
    problem = dg.Problem(X, y, "squared", 1e-9, intercept=True)
    proof = full_rank(problem)
    assert proof is not None
    exact = linear_model.LinearRegression().fit(X, y)
    least = np.mean((y - exact.predict(X)) ** 2)
    rng = np.random.default_rng(5)
    for size in (0.0, 1e-6, 1e-2, 1.0, 100.0):
        certificate, better, intercept = proof.certify(
            exact.coef_ + size * rng.normal(size=10), exact.intercept_ + size
        )
        assert certificate.gap >= certificate.primal - least - 1e-12 * least
        assert certificate.dual <= least * (1.0 + 1e-12)
        # A Newton step from anywhere is at the optimum of a quadratic function.
        assert np.mean((y - X @ better - intercept) ** 2) == pytest.approx(least, rel=1e-9)
    # The smallest eigenvalue is not above the true one, and not far below it.
    centered = (X - X.mean(axis=0)) * proof.scales
    true = np.linalg.eigvalsh(np.block([[centered.T @ centered / 442, np.zeros((10, 1))], [np.zeros((1, 10)), 1.0]]))[0]
    assert 0.2 * true < proof.eigenvalue < true


def test_dependent_columns_have_no_proof_and_a_tiny_penalty() -> None:
    X, y = diabetes()
    for doubled in (np.column_stack([X, X[:, 0] + X[:, 1]]), np.column_stack([X, np.ones(442)]), X[:8]):
        target = y[: len(doubled)]
        model, said = fitted_with_note(dg.Ridge(alpha=0), doubled, target)
        assert "Ridge without a penalty may have no minimum" in said
        assert model.strength_ > 0.0
        assert model.status_ is dg.Status.CERTIFIED


def test_classifier_and_several_targets_are_certified_without_a_penalty() -> None:
    X, y = diabetes()
    classifier = dg.RidgeClassifier(alpha=0).fit(X, y > 140)
    assert classifier.strength_ == 0.0
    model = dg.Ridge(alpha=[0.0, 1.0], tol=1e-9).fit(X, np.column_stack([y, y]))
    assert model.strength_[0] == 0.0
    assert model.strength_[1] == pytest.approx(2.0 / 442)
    np.testing.assert_allclose(model.coef_[0], linear_model.LinearRegression().fit(X, y).coef_, rtol=1e-6)


def test_model_file_of_a_fit_without_penalty_holds(tmp_path: Any) -> None:
    X, y = diabetes()
    model = dg.Ridge(alpha=0).fit(X, y)
    model.save(tmp_path / "m.dg", duals=True)
    loaded = dg.load(tmp_path / "m.dg")
    assert loaded.certify(X, y).holds
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_partial_fit_without_penalty_is_refused() -> None:
    X, y = diabetes()
    with pytest.raises(ValueError, match="partial_fit needs a penalty, got none; pass strength="):
        dg.LinearSVC(C=np.inf, solver="pegasos").partial_fit(X, y > 140, classes=[False, True])


def test_strength_and_no_penalty_are_refused_together() -> None:
    X, y = diabetes()
    with pytest.raises(ValueError, match=r"needs strength=None where penalty is None, got 0.1; leave one out"):
        dg.LogisticRegression(penalty=None, strength=0.1).fit(X, y > 140)
