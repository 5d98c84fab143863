"""Estimators within scikit-learn's meta-estimators: searches, pipelines, one-vs-rest, calibration, process pools."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dualgap as dg


def test_grid_search_over_parameters_and_solvers() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    grid = {"C": [1e-4, 0.1], "loss": ["hinge", dg.SmoothedHinge(0.5)], "solver": ["auto", dg.Newton()]}
    search = GridSearchCV(dg.LinearSVC(), grid, cv=2, error_score="raise").fit(StandardScaler().fit_transform(X), y)
    assert search.best_params_["C"] == 0.1
    assert search.best_estimator_.status_ is dg.Status.CERTIFIED
    assert search.best_score_ > 0.95


def test_pipeline_passes_parameters_to_its_last_step() -> None:
    X, y = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), dg.QuantileRegressor(quantile=0.9, alpha=1e-3))
    assert np.mean(y <= pipeline.fit(X, y).predict(X)) == pytest.approx(0.9, abs=0.02)
    pipeline.set_params(quantileregressor__quantile=0.1)
    assert np.mean(y <= pipeline.fit(X, y).predict(X)) == pytest.approx(0.1, abs=0.02)


def test_one_vs_rest_wrapper_equals_linear_svc() -> None:
    X, y = load_iris(return_X_y=True)
    outside = OneVsRestClassifier(dg.LinearSVC(tol=1e-10)).fit(X, y)
    inside = dg.LinearSVC(tol=1e-10).fit(X, y)
    for k, part in enumerate(outside.estimators_):
        np.testing.assert_allclose(part.coef_[0], inside.coef_[k], rtol=1e-6)
    assert np.array_equal(outside.predict(X), inside.predict(X))


def test_calibration_turns_scores_into_probabilities() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), dg.LinearSVC())
    probabilities = CalibratedClassifierCV(model, cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.mean((probabilities[:, 1] > 0.5) == y) > 0.96


def test_process_pool_gives_the_same_scores() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = dg.LogisticRegression(C=0.01)
    alone = cross_val_score(model, X, y, cv=3, error_score="raise")
    pooled = cross_val_score(model, X, y, cv=3, n_jobs=2, error_score="raise")
    assert np.array_equal(alone, pooled)
    assert alone.mean() > 0.9


def test_ridge_of_several_targets_equals_one_ridge_for_each() -> None:
    X, y = load_diabetes(return_X_y=True)
    both = np.column_stack([y, y**2 / 100.0])
    np.testing.assert_allclose(
        dg.Ridge(tol=1e-12).fit(X, both).predict(X),
        MultiOutputRegressor(dg.Ridge(tol=1e-12)).fit(X, both).predict(X),
        rtol=1e-8,
    )
