"""The exact objectives of estimators, held against floats, other points and the package's tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from estimators import ESTIMATORS, l1_parameters
from exact import Facts
from exact_estimators import scaled_truth, unpenalized_truth
from sklearn.base import BaseEstimator, is_classifier, is_regressor

import dualgap as dg

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 2)), RNG.standard_t(1.5, size=12)


def test_every_estimator_is_drawn() -> None:
    public = [getattr(dg, name) for name in dg.__all__]
    kinds = [kind for kind in public if isinstance(kind, type) and issubclass(kind, BaseEstimator)]
    fitted = {kind.__name__ for kind in kinds if is_classifier(kind()) or is_regressor(kind())}
    assert fitted - set(ESTIMATORS) <= {"LinearRegression"}


def test_an_l1_part_is_found_where_an_estimator_has_one() -> None:
    assert l1_parameters("ElasticNet") == {}
    assert l1_parameters("Ridge") is None


@pytest.mark.parametrize("intercept", [False, True])
def test_a_fitted_scale_has_its_objective_and_a_bound_below_every_other_point(intercept: bool) -> None:
    model = dg.HuberRegressor(epsilon=1.35, alpha=0.1, tol=1e-6, fit_intercept=intercept).fit(X, Y)
    facts = Facts(X, Y, dg.Huber(1.35), model.strength_, None, intercept, scale=float(model.scale_))
    truth = scaled_truth(facts, model.coef_, float(model.intercept_), model.dual_coef_)
    residuals = np.abs(Y - X @ model.coef_ - model.intercept_) / model.scale_
    values = np.where(residuals <= 1.35, residuals**2, 2.7 * residuals - 1.35**2)
    cost = model.scale_ * (1.0 + values.mean()) + 0.5 * model.strength_ * float(model.coef_ @ model.coef_)
    assert float(truth.primal) == pytest.approx(cost, rel=1e-12)
    assert truth.outside == 0
    assert 0 < truth.gap < 1e-5
    for _ in range(20):
        weights, constant = model.coef_ + 0.1 * RNG.normal(size=2), float(model.intercept_ + intercept * RNG.normal())
        other = replace(facts, scale=float(model.scale_ * np.exp(0.3 * RNG.normal())))
        assert scaled_truth(other, weights, constant, np.zeros(12)).primal >= truth.dual - truth.slack
    far = scaled_truth(facts, model.coef_, 0.0, np.full(12, 3.0))
    assert far.outside == 12


@pytest.mark.parametrize("intercept", [False, True])
def test_least_squares_without_a_penalty_has_its_minimum(intercept: bool) -> None:
    s = RNG.uniform(size=12)
    columns = np.column_stack([X, np.ones(12)]) if intercept else X
    best = np.linalg.lstsq(np.sqrt(s)[:, None] * columns, np.sqrt(s) * Y, rcond=None)[0]
    facts = Facts(X, Y, dg.Squared(), 0.0, s, intercept)
    truth = unpenalized_truth(facts, best[:2], float(best[2]) if intercept else 0.0)
    assert float(truth.primal) == pytest.approx(float(s @ (Y - columns @ best) ** 2 / s.sum()), rel=1e-12)
    assert 0 <= truth.gap < 1e-25
    assert unpenalized_truth(facts, best[:2] + 0.1, 0.0).gap > 1e-4
