"""RidgeClassifier and RidgeCV: scikit-learn's weights, choices and scores, with certificates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_predict

import dualgap as dg

ALPHAS = [1e-3, 1e-2, 0.1, 1.0, 10.0]


def noisy_iris(classes: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    return X[y < classes], np.array(["setosa", "versicolor", "virginica"])[y[y < classes]]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"setosa": 3.0, "versicolor": 0.5}])
def test_ridge_classifier_has_scikit_learns_weights(classes: int, class_weight: Any) -> None:
    X, y = noisy_iris(classes)
    # scikit-learn counts rows for "balanced", and dualgap sums their weights.
    weights = None if class_weight == "balanced" else np.resize([1.0, 0.5, 2.0], y.size)
    theirs = linear_model.RidgeClassifier(alpha=2.0, class_weight=class_weight).fit(X, y, weights)
    ours = dg.RidgeClassifier(alpha=2.0, class_weight=class_weight, tol=1e-10).fit(X, y, weights)
    assert ours.coef_.shape == (1 if classes == 2 else 3, 4)
    np.testing.assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-9)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_ridge_classifier_refuses_a_table_of_labels() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="y should be a 1d array"):
        dg.RidgeClassifier().fit(X, np.eye(3, dtype=int)[y])


CASES = {
    "long": {},
    "without intercept": {"fit_intercept": False},
    "wide": {"columns": 60},
    "weights": {"weights": True},
    "wide with weights": {"columns": 60, "weights": True},
    "two targets": {"targets": 2},
    "an alpha for each target": {"targets": 2, "alpha_per_target": True},
    "a score": {"scoring": "neg_mean_absolute_error"},
    "a score with weights": {"scoring": "r2", "weights": True},
    "a score and two targets": {"targets": 2, "alpha_per_target": True, "scoring": "r2"},
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_leave_one_out_scores_equal_scikit_learns(case: str, sparse: bool) -> None:
    options = dict(CASES[case])
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, options.pop("columns", 5))) + 3.0
    y = X[:, :2] @ [[1.0, 2.0], [0.0, -1.0]] + rng.normal(size=(40, 2)) * [0.3, 3.0] + 5.0
    if options.pop("targets", 1) == 1:
        y = y[:, 0]
    weights = rng.uniform(0.5, 2.0, size=40) if options.pop("weights", False) else None
    rows = sp.csr_matrix(X) if sparse else X
    fits = [
        kind(alphas=ALPHAS, store_cv_results=True, **options).fit(rows, y, sample_weight=weights)
        for kind in (dg.RidgeCV, linear_model.RidgeCV)
    ]
    ours, theirs = fits
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6)
    assert np.shape(ours.alpha_) == np.shape(theirs.alpha_)
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0.05, atol=0.02)


def test_leave_one_out_errors_are_those_of_fits_to_the_other_rows() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:30], y[:30]
    model = dg.RidgeCV(alphas=[0.01], store_cv_results=True).fit(X, y)
    for i in (0, 7, 29):
        others = np.arange(30) != i
        fit = linear_model.Ridge(alpha=0.01).fit(X[others], y[others])
        assert model.cv_results_[i, 0] == pytest.approx((y[i] - fit.predict(X[[i]])[0]) ** 2)


def test_folds_give_scikit_learns_choice() -> None:
    X, y = load_diabetes(return_X_y=True)
    theirs = linear_model.RidgeCV(alphas=ALPHAS, cv=KFold(4)).fit(X, y)
    ours = dg.RidgeCV(alphas=ALPHAS, cv=KFold(4), tol=1e-9).fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert ours.strength_ == pytest.approx(2.0 * ours.alpha_ / 442)
    assert ours.status_ is dg.Status.CERTIFIED


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"alphas": []}, "at least one alpha, got an empty list"),
        ({"alphas": [0.0, -1.0]}, "needs a finite alpha ≥ 0, got -1.0; alpha=0 is no penalty"),
        ({"alphas": [-1.0], "cv": 3}, "needs a finite alpha ≥ 0, got -1.0"),
        ({"cv": 3, "store_cv_results": True}, "needs cv=None with store_cv_results=True, got cv=3"),
    ],
)
def test_ridge_cv_refuses_in_one_sentence(options: dict[str, Any], sentence: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match=sentence):
        dg.RidgeCV(**options).fit(X, y)
    assert not hasattr(dg.RidgeCV(solver="sgd"), "partial_fit")


def test_leave_one_out_without_a_penalty_is_that_of_least_squares() -> None:
    X, y = load_breast_cancer(return_X_y=True)  # unscaled: columns differ by a factor of 1e5
    model = dg.RidgeCV(alphas=[0.0, 1.0], store_cv_results=True).fit(X, y)
    left_out = cross_val_predict(linear_model.LinearRegression(), X, y, cv=LeaveOneOut())
    np.testing.assert_allclose(model.cv_results_[:, 0], (y - left_out) ** 2, rtol=1e-6, atol=1e-12)
    assert model.alpha_ == model.strength_ == 0.0


@pytest.mark.parametrize("case", ["twice", "constant", "wide", "one row has a column alone"])
def test_leave_one_out_without_a_penalty_needs_independent_columns(case: str) -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(20, 3)), random.normal(size=20)
    X = {
        "twice": np.hstack([X, X[:, :1]]),
        "constant": np.hstack([X, np.full((20, 1), 0.1)]),
        "wide": random.normal(size=(20, 20)),
        "one row has a column alone": np.hstack([X, np.eye(20)[:, :1]]),
    }[case]
    with pytest.raises(ValueError, match="RidgeCV needs alphas > 0 for leave-one-out where columns are dependent"):
        dg.RidgeCV(alphas=[0.0, 1.0]).fit(X, y)
    assert dg.RidgeCV(alphas=[0.5, 1.0]).fit(X, y).status_.name == "CERTIFIED"


@pytest.mark.parametrize("name", ["Ridge", "RidgeCV", "Lasso", "ElasticNet"])
def test_targets_in_one_column_have_scikit_learns_shapes(name: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = (getattr(module, name)().fit(X, y[:, None]) for module in (dg, linear_model))
    assert ours.coef_.shape == theirs.coef_.shape == (10,)
    assert ours.intercept_.shape == theirs.intercept_.shape == (1,)
    assert ours.predict(X).shape == theirs.predict(X).shape
    assert ours.status_ is dg.Status.CERTIFIED
    assert np.array_equal(ours.coef_, getattr(dg, name)().fit(X, y).coef_)
