"""Estimators with an L1 part: scikit-learn's coefficients, exact zeros, feature selection, and model files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectFromModel

import dualgap as dg
from dualgap.penalties import penalty_of
from examples import small_problem

X, Y = load_diabetes(return_X_y=True)
X = (X / X.std(axis=0))[:150]
Y = (Y / Y.std())[:150]
WEIGHTS = np.random.default_rng(11).uniform(0.5, 2.0, len(Y))

CASES = {
    "Lasso": ({"alpha": 0.05}, {}),
    "ElasticNet": ({"alpha": 0.1, "l1_ratio": 0.7}, {}),
    "QuantileRegressor": ({"alpha": 0.03, "quantile": 0.6, "l1_ratio": 1.0}, {"solver": "highs"}),
}


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", CASES)
def test_coefficients_and_zeros_are_those_of_scikit_learn(name: str, weights: np.ndarray, fit_intercept: bool) -> None:
    options, theirs_only = CASES[name]
    ours = getattr(dg, name)(**options, tol=1e-10, fit_intercept=fit_intercept).fit(X, Y, sample_weight=weights)
    tight = {} if name == "QuantileRegressor" else {"tol": 1e-10, "max_iter": 100_000}
    if name == "QuantileRegressor":
        options = {key: value for key, value in options.items() if key != "l1_ratio"}
    theirs = getattr(linear_model, name)(**options, **theirs_only, **tight, fit_intercept=fit_intercept)
    theirs.fit(X, Y, sample_weight=weights)
    assert ours.status_ is dg.Status.CERTIFIED
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)
    assert np.array_equal(ours.coef_ == 0.0, np.abs(theirs.coef_) < 1e-12)
    assert 0 < np.count_nonzero(ours.coef_) < 10


def test_select_from_model_keeps_the_columns_with_a_weight() -> None:
    model = dg.Lasso(alpha=0.1)
    selected = SelectFromModel(model).fit(X, Y).get_support()
    assert np.array_equal(selected, model.fit(X, Y).coef_ != 0.0)
    assert model.sparse_coef_.shape == (1, 10)
    assert model.sparse_coef_.nnz == selected.sum()


def test_a_quantile_regressor_without_an_l1_part_is_the_l2_model() -> None:
    model = dg.QuantileRegressor(alpha=0.1, tol=1e-8).fit(X, Y)
    expected = dg.solve(dg.Problem(X, Y, "quantile", 0.1, intercept=True), tol=1e-8)
    np.testing.assert_allclose(model.coef_, expected.weights, atol=1e-4)
    assert model.coef_.all()


def test_without_a_penalty_the_l1_part_does_not_count() -> None:
    model = dg.Lasso(alpha=0.0, tol=1e-9).fit(X, Y)
    assert model.strength_ == 0.0
    assert model.status_ is dg.Status.CERTIFIED
    np.testing.assert_allclose(model.coef_, linear_model.LinearRegression().fit(X, Y).coef_, atol=1e-5)


@pytest.mark.parametrize("model", [dg.Lasso(positive=True), dg.ElasticNet(l1_ratio=2.0), dg.Lasso(selection="best")])
def test_what_asks_for_another_model_is_refused(model: object) -> None:
    with pytest.raises(ValueError, match="needs"):
        model.fit(X, Y)  # type: ignore[attr-defined]


def test_a_stream_is_refused_under_an_l1_penalty() -> None:
    with pytest.raises(ValueError, match="partial_fit of Lasso needs the L2 penalty"):
        dg.Lasso(solver="pegasos").partial_fit(X, Y)


def test_a_model_file_keeps_the_l1_part_and_can_be_certified(tmp_path: Path) -> None:
    model = dg.ElasticNet(alpha=0.1, l1_ratio=0.7, tol=1e-7).fit(X, Y)
    model.save(tmp_path / "net.dg", duals=True)
    kept = dg.load(tmp_path / "net.dg")
    assert kept.l1_ratio == 0.7
    assert kept.certify(X, Y).holds
    assert dg.load(tmp_path / "net.dg").predict(X) == pytest.approx(model.predict(X))


def test_a_model_of_a_result_keeps_the_l1_part(tmp_path: Path) -> None:
    problem = small_problem("logistic", l1_ratio=1.0)
    result = dg.solve(problem, tol=1e-7)
    dg.Model.of(result, problem, tol=1e-7, duals=True).save(tmp_path / "l1.dg")
    rows = problem.rows.arrays.values
    assert dg.load(tmp_path / "l1.dg").certify(rows, np.where(problem.labels > 0, 1, -1)).holds
    assert penalty_of(dg.load(tmp_path / "l1.dg").l1_ratio).name == "l1"
