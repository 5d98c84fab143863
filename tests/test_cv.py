"""Estimators with cross-validated C: scikit-learn's checks, the choice of GridSearchCV, the same bits for any n_jobs."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import dualgap as dg

BOTH = (dg.LinearSVCCV, dg.LogisticRegressionCV)
ALL = (*BOTH, dg.LinearSVRCV)
# Arrays by fold, ρ and C, in the place of dictionaries by class.
ARRAYS = {dg.LinearSVCCV: {}, dg.LogisticRegressionCV: {"use_legacy_attributes": False}}
CHECKED: tuple[dict[str, Any], ...] = ({}, {"Cs": 3, "solver": "newton"}, {"Cs": [0.1, 1.0], "solver": "sdca"})


# With the largest C some runs end at max_iter; the ConvergenceWarning is not under test here.
not_certified = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@not_certified
@parametrize_with_checks(
    [
        *(estimator(Cs=2) for estimator in ALL),
        dg.LinearSVCCV(Cs=[0.01, 1.0], penalty="l1"),
        dg.LinearSVRCV(Cs=[0.01, 1.0], l1_ratio=1.0),
        dg.LassoCV(alphas=3),
        dg.ElasticNetCV(alphas=3),
    ]
)
def test_conformance_on_a_short_grid(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@not_certified
@parametrize_with_checks([estimator(**options) for options in CHECKED for estimator in ALL])
def test_conformance(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_and_choice_equal_those_of_grid_search(classes: int) -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    X = X + np.random.default_rng(0).normal(size=X.shape)
    Cs, folds = [1e-3, 1e-1, 1.0, 1e2], StratifiedKFold(4)
    for many, one in ((dg.LinearSVCCV, dg.LinearSVC), (dg.LogisticRegressionCV, dg.LogisticRegression)):
        chosen = many(Cs=Cs, cv=folds, tol=1e-9, **ARRAYS[many]).fit(X, y)
        search = GridSearchCV(one(tol=1e-9), {"C": Cs}, cv=folds).fit(X, y)
        for k in range(4):
            np.testing.assert_allclose(np.ravel(chosen.scores_[k]), search.cv_results_[f"split{k}_test_score"])
        assert search.best_params_["C"] == chosen.C_
        np.testing.assert_allclose(chosen.coef_, search.best_estimator_.coef_, atol=1e-3)
        assert (chosen.gaps_ <= 1e-9).all()
        assert chosen.gaps_.shape == chosen.scores_.shape
        assert chosen.gaps_.size == 16


def test_regression_scores_and_choice_equal_those_of_grid_search() -> None:
    X, y = load_diabetes(return_X_y=True)
    Cs = [1.0, 10.0, 100.0]
    chosen = dg.LinearSVRCV(Cs=Cs, cv=3, epsilon=5.0, scoring="neg_mean_absolute_error", tol=1e-9).fit(X, y)
    search = GridSearchCV(dg.LinearSVR(epsilon=5.0, tol=1e-9), {"C": Cs}, cv=3, scoring="neg_mean_absolute_error")
    search.fit(X, y)
    for k in range(3):
        np.testing.assert_allclose(chosen.scores_[k], search.cv_results_[f"split{k}_test_score"], rtol=1e-6)
    assert search.best_params_["C"] == chosen.C_
    assert chosen.coef_.shape == (10,)
    assert (chosen.gaps_ <= 1e-9).all()
    assert dg.LinearSVRCV(Cs=2, cv=KFold(4)).fit(X, y).scores_.shape == (4, 2)


@pytest.mark.skipif(
    "use_legacy_attributes" not in signature(linear_model.LogisticRegressionCV).parameters,
    reason="scikit-learn before 1.9 has other shapes",
)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("legacy", [False, True, None], ids=["new", "legacy", "default"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("ratios", [None, [0], [0.5, 1, 0]], ids=str)
def test_attributes_have_scikit_learns_shapes_and_values(
    classes: int, legacy: bool | None, fit_intercept: bool, ratios: list[float] | None
) -> None:
    X, y = load_iris(return_X_y=True)
    if ratios and any(ratios):
        if classes > 2:
            pytest.skip("the softmax model has no L1 part")
        X, y = X[50:], y[50:] - 1
    X, y = X[y < classes] - X.mean(axis=0), np.array(["a", "b", "c"])[y[y < classes]]
    options = dict(Cs=[0.1, 0.3, 1.0], cv=3, scoring="neg_log_loss", fit_intercept=fit_intercept, tol=1e-9)
    options |= {} if legacy is None else dict(use_legacy_attributes=legacy)
    options |= {} if ratios is None else dict(l1_ratios=ratios)
    ours = dg.LogisticRegressionCV(**options).fit(X, y)
    theirs = linear_model.LogisticRegressionCV(
        **options, max_iter=100_000, solver="saga" if ratios and any(ratios) else "lbfgs"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs.fit(X, y)
    assert type(ours.C_) is type(theirs.C_)
    assert type(ours.l1_ratio_) is type(theirs.l1_ratio_)
    np.testing.assert_array_equal(ours.C_, theirs.C_)
    # Without a list scikit-learn has None where the ratio is 0.
    for name in ("l1_ratio_", "l1_ratios_"):
        expected = np.asarray(getattr(theirs, name))
        assert np.shape(getattr(ours, name)) == expected.shape
        np.testing.assert_array_equal(getattr(ours, name), np.where(np.equal(expected, None), 0.0, expected))
    for name in ("scores_", "coefs_paths_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert type(a) is type(b)
        assert legacy is False or list(a) == list(b)
        for key in a if isinstance(a, dict) else [...]:
            assert a[key].shape == b[key].shape
            np.testing.assert_allclose(a[key], b[key], rtol=1e-2, atol=1e-3)


def test_log_losses_equal_scikit_learns() -> None:
    X, y = load_iris(return_X_y=True)
    Cs, folds = [1e-2, 1.0, 1e2], list(StratifiedKFold(3).split(X, y))
    ours = dg.LogisticRegressionCV(Cs=Cs, cv=folds, scoring="neg_log_loss", tol=1e-12, use_legacy_attributes=False)
    ours.fit(X, y)
    for k, (train, test) in enumerate(folds):
        for j, C in enumerate(Cs):
            theirs = linear_model.LogisticRegression(C=C, tol=1e-10, solver="newton-cholesky").fit(X[train], y[train])
            p = theirs.predict_proba(X[test])[np.arange(test.size), y[test]]
            assert ours.scores_[k, 0, j] == pytest.approx(np.log(p).mean(), abs=1e-5)
    assert ours.C_ == 1e2


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("solver", ["auto", "sdca"])
def test_n_jobs_does_not_change_the_bits(estimator: Any, solver: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    options = dict(Cs=[1e-3, 1e-1], solver=solver, random_state=3, **ARRAYS[estimator])
    one, two = (estimator(n_jobs=jobs, **options).fit(X, y) for jobs in (1, 2))
    assert np.array_equal(one.scores_, two.scores_)
    assert np.array_equal(one.gaps_, two.gaps_)
    assert np.array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("estimator", BOTH)
def test_weighted_sparse_rows_give_the_dense_answer(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    folds = list(StratifiedKFold(3).split(X, y))
    weights = np.resize([1.0, 2.0, 3.0], 150)
    options = dict(cv=folds, class_weight="balanced", **ARRAYS[estimator])
    dense = estimator(Cs=3, **options).fit(X, y, weights)
    sparse = estimator(Cs=3, **options).fit(sp.csr_matrix(X), y, weights)
    assert dense.C_ == sparse.C_
    np.testing.assert_allclose(dense.scores_, sparse.scores_)
    zeroed = weights * (np.arange(150) % 10 > 0)
    assert estimator(Cs=2, **ARRAYS[estimator]).fit(X, y, zeroed).scores_.size == 10


@pytest.mark.parametrize("estimator", BOTH)
def test_column_names_cause_no_warning(estimator: Any) -> None:
    frame, y = load_iris(return_X_y=True, as_frame=True)
    model = estimator(Cs=2, **ARRAYS[estimator]).fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert np.array_equal(model.scores_, estimator(Cs=2, **ARRAYS[estimator]).fit(frame.to_numpy(), y).scores_)


def test_smallest_c_is_chosen_among_equal_scores() -> None:
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 5)
    model = dg.LinearSVCCV(Cs=[10.0, 1.0, 100.0]).fit(X, np.ravel(X) > 0)
    assert model.C_ == 1.0
    assert model.Cs_.tolist() == [10.0, 1.0, 100.0]
    assert model.strength_ == pytest.approx(1.0 / 20)


REFUSED = {
    "no C": ({"Cs": []}, "at least one C"),
    "a negative C": ({"Cs": [1.0, -1.0]}, "finite C > 0, got -1.0"),
    "zero Cs": ({"Cs": 0}, "a number ≥ 1"),
    "too many folds": ({"cv": 11}, "got 11 folds and a class of 10"),
    "one fold": ({"cv": 1}, "got 1 folds"),
    "a fold without a class": ({"cv": KFold(2)}, "got a fold without"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("estimator", BOTH)
def test_invalid_parameters_are_refused(estimator: Any, case: str) -> None:
    options, sentence = REFUSED[case]
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=sentence):
        estimator(**options).fit(X, np.repeat(["a", "b"], 10))


def test_cross_validated_estimators_have_no_partial_fit() -> None:
    assert not hasattr(dg.LinearSVCCV(solver="sgd"), "partial_fit")
    assert not hasattr(dg.LinearSVRCV(solver="sgd"), "partial_fit")


@pytest.mark.parametrize("classes", [2, 3])
def test_runs_that_missed_tol_are_reported_once_and_with_a_reason(classes: int) -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    X[:, 0] *= 1e9
    with pytest.warns(ConvergenceWarning) as caught:
        dg.LogisticRegressionCV(Cs=[1.0, 1e4], cv=2, solver="sdca", max_iter=2).fit(X, y)
    (only,) = [str(found.message) for found in caught]
    assert "LogisticRegressionCV is not certified in " in only
    assert " of 5 problems: relative gap" in only
    assert "columns differ by" in only
    assert caught[0].filename == __file__


def test_a_certified_choice_is_not_reported() -> None:
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dg.LogisticRegressionCV(Cs=2, cv=2).fit(X, y)


def test_svm_with_an_l1_penalty_chooses_as_grid_search() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, Cs = (X - X.mean(axis=0)) / X.std(axis=0), [1e-3, 1e-2, 1e-1]
    chosen = dg.LinearSVCCV(Cs=Cs, cv=3, penalty="l1", tol=1e-7).fit(X, y)
    search = GridSearchCV(dg.LinearSVC(penalty="l1", tol=1e-7), {"C": Cs}, cv=3).fit(X, y)
    assert search.best_params_["C"] == chosen.C_
    assert np.array_equal(chosen.coef_ == 0.0, search.best_estimator_.coef_ == 0.0)
    assert (chosen.coef_ == 0.0).any()
